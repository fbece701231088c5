"""SentencePiece: vocabularies of word pieces or characters, learned from text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import sentencepiece

from input_pipeline.vocabulary import BOS, EOS, UNK, up_to_end
from nmt.errors import UserError
from nmt.machine.cpu import num_cores

SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # how SentencePiece writes the space before a word
QUIET = 2  # errors only
# Sums are taken per thread: another number of them, and the last digits of the scores differ.
TRAINING_THREADS = 8
# Text from the web has thousands of characters that occur once; each would be a piece.
COVERAGE = 0.9999


class Wish(NamedTuple):
    """The vocabulary to learn."""

    model_type: str  # "unigram", "bpe" or "char"
    size: int
    exact: bool  # False: a smaller one will do where the text has no more to give


class SubwordVocabulary:
    """A SentencePiece model whose special words have this program's ids."""

    suffix: ClassVar[str] = ".model"

    def __init__(self, model: bytes) -> None:
        self.model = model
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        spelled = is_spelling(self.processor)
        self.space: int | None = self.processor.piece_to_id(SPACE) if spelled else None

    def __len__(self) -> int:
        return len(self.processor)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Ids of every sentence; computed outside Python, on all cores."""
        return self.processor.encode(list(sentences), num_threads=num_cores())

    def decode(self, ids: Iterable[int]) -> str:
        """Pieces put together to plain text."""
        return self.processor.decode(up_to_end(ids))

    def to_bytes(self) -> bytes:
        """The serialised model."""
        return self.model


def is_spelling(processor: sentencepiece.SentencePieceProcessor) -> bool:
    """Whether every piece that text can become is one character, the space among them."""
    ids = [i for i in range(EOS + 1, len(processor)) if not processor.is_control(i)]
    pieces = {processor.id_to_piece(i) for i in ids if not processor.is_unused(i)}
    return SPACE in pieces and all(len(piece) == 1 for piece in pieces)


def read_subwords(path: Path) -> SubwordVocabulary:
    """Loads a SentencePiece model that somebody trained."""
    model = path.read_bytes()
    try:
        if not model:
            raise RuntimeError("the file is empty")
        vocabulary = SubwordVocabulary(model)
    except RuntimeError as error:
        raise UserError(
            f"{path} is not a SentencePiece model, or damaged; copy or train it anew"
        ) from error
    processor = vocabulary.processor
    found = processor.unk_id(), processor.bos_id(), processor.eos_id()
    if found != (UNK, BOS, EOS):
        raise UserError(
            f"{path} has <unk>, <s>, </s> at {found}; they must be at {(UNK, BOS, EOS)}, as "
            "SentencePiece puts them unless told otherwise: train it anew"
        )
    return vocabulary


def train_subwords(sentences: Iterable[str], wish: Wish, flag: str) -> bytes:
    """Learns a model; the same text gives the same model."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=wish.model_type,
            vocab_size=wish.size,
            hard_vocab_limit=wish.exact,
            character_coverage=1.0 if wish.model_type == "char" else COVERAGE,
            num_threads=TRAINING_THREADS,
            minloglevel=QUIET,
        )
    except (RuntimeError, ValueError) as error:
        raise UserError(explain(str(error), wish, flag)) from error
    return model.getvalue()


def explain(error: str, wish: Wish, flag: str) -> str:
    """What SentencePiece's message means for the user's flags."""
    if most := re.search(r"too high .* <= (\d+)", error):
        return f"{flag}={wish.size} is more than this text gives; give {most[1]} or less"
    if least := re.search(r"smaller than required_chars. \d+ vs (\d+)", error):
        return f"{flag}={wish.size} is less than the characters in use; give {least[1]} or more"
    return f"SentencePiece cannot learn a vocabulary from this text: {error}; look at the files"
