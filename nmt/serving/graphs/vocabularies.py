"""Vocabularies as graphs: strings to ids and back, with nothing but core operations."""

from __future__ import annotations

from typing import Any, Final

import tensorflow as tf
from sentencepiece import sentencepiece_model_pb2 as sentencepiece_model

from input_pipeline.subwords import SPACE, SubwordVocabulary
from input_pipeline.vocabulary import EOS, UNK, Vocabulary, WordVocabulary
from nmt.errors import UserError
from nmt.serving.graphs import charsmap
from nmt.serving.graphs.lookup import Table
from nmt.serving.graphs.rewriting import Rewriter
from nmt.serving.graphs.segmenters import SEGMENTERS

NORMAL, UNKNOWN, CONTROL = 1, 2, 3  # types of pieces
# What str.split takes for space, as RE2 writes it.
WHITESPACE: Final = r"[\s\x0b\x1c-\x1f\x{85}\p{Z}]"


class GraphVocabulary(tf.Module):
    """The same ids as a vocabulary's."""

    def encode(self, sentences: tf.Tensor) -> tf.RaggedTensor:
        """Ids of sentences, `[sentences]` strings."""
        raise NotImplementedError

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """The sentences that ids, `[sentences, time]`, stand for up to </s>."""
        raise NotImplementedError


def make(vocabulary: Vocabulary) -> GraphVocabulary:
    """Puts a vocabulary into graphs."""
    if isinstance(vocabulary, WordVocabulary):
        return Words(vocabulary)
    assert isinstance(vocabulary, SubwordVocabulary), "there are no other kinds"
    return Pieces(vocabulary)


def until_end(ids: tf.Tensor, names: tf.Tensor) -> tf.RaggedTensor:
    """What the ids before </s> stand for."""
    before = tf.cumsum(tf.cast(ids == EOS, tf.int32), axis=1) == 0
    return tf.ragged.boolean_mask(tf.gather(names, ids), before)


class Words(GraphVocabulary):
    """Words between spaces."""

    def __init__(self, vocabulary: WordVocabulary) -> None:
        super().__init__()
        self.find = Table(vocabulary.ids, tf.int32, UNK)
        self.names = tf.constant(vocabulary.words)

    def encode(self, sentences: tf.Tensor) -> tf.RaggedTensor:
        """Ids of words."""
        found = tf.strings.split(tf.strings.regex_replace(sentences, WHITESPACE, " "), " ")
        found = tf.ragged.boolean_mask(found, found != "")
        return tf.ragged.map_flat_values(self.find, found)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """Words with spaces between them."""
        return tf.strings.reduce_join(until_end(ids, self.names), axis=1, separator=" ")


class Pieces(GraphVocabulary):
    """SentencePiece's pieces."""

    def __init__(self, vocabulary: SubwordVocabulary) -> None:
        super().__init__()
        model: Any = sentencepiece_model.ModelProto.FromString(vocabulary.model)  # type: ignore[attr-defined]
        refuse_rare_kinds(model)
        rules = model.normalizer_spec
        self.one_space, self.first_space = rules.remove_extra_whitespaces, rules.add_dummy_prefix
        normal = {piece.piece: i for i, piece in enumerate(model.pieces) if piece.type == NORMAL}
        self.rewrite = Rewriter(charsmap.read(rules.precompiled_charsmap))
        make_segmenter = SEGMENTERS[model.trainer_spec.model_type]
        self.segment = make_segmenter(normal, [piece.score for piece in model.pieces])
        unknown = model.trainer_spec.unk_surface
        self.surfaces = tf.constant([surface(piece, unknown) for piece in model.pieces])

    def encode(self, sentences: tf.Tensor) -> tf.RaggedTensor:
        """Ids of pieces."""
        replace = tf.strings.regex_replace
        text = self.rewrite(sentences)
        if self.one_space:
            text = replace(replace(text, " +", " "), "^ | $", "")
        if self.first_space:
            text = tf.where(text == "", text, tf.strings.join([" ", text]))
        text = replace(text, " ", SPACE)
        # A mark that the text itself ends with goes too, as SentencePiece does it.
        return self.segment(replace(text, f"{SPACE}+$", "") if self.one_space else text)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """Pieces put together."""
        text = tf.strings.reduce_join(until_end(ids, self.surfaces), axis=1)
        if self.one_space:
            text = tf.strings.regex_replace(text, f"^{SPACE}+", "")
        elif self.first_space:
            text = tf.strings.regex_replace(text, f"^{SPACE}", "")
        return tf.strings.regex_replace(text, SPACE, " ")


def surface(piece: Any, unknown: str) -> str:
    """What a piece stands for in text."""
    if piece.type == UNKNOWN:
        return unknown
    return "" if piece.type == CONTROL else str(piece.piece)


def refuse_rare_kinds(model: Any) -> None:
    """Models as this program trains them, and most others, can be exported."""
    kinds = {piece.type for piece in model.pieces}
    if not kinds <= {NORMAL, UNKNOWN, CONTROL} or model.trainer_spec.treat_whitespace_as_suffix:
        raise UserError(
            "the SentencePiece model has user-defined, unused or byte pieces, or spaces as "
            "suffixes, which cannot be exported; train with another vocabulary"
        )
    if model.denormalizer_spec.precompiled_charsmap or not model.normalizer_spec.escape_whitespaces:
        raise UserError(
            "the SentencePiece model has rules of its own for writing text, which cannot be "
            "exported; train with another vocabulary"
        )
    if model.trainer_spec.model_type not in SEGMENTERS:
        raise UserError(
            "the SentencePiece model is one of whole words, which cannot be exported; train with "
            "--vocab_type=unigram, bpe, char or word"
        )
