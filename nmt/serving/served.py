"""A model as a SavedModel: raw strings in, strings out, the vocabularies inside."""

from __future__ import annotations

import shutil
from pathlib import Path

import tensorflow as tf

from input_pipeline.vocabulary import EOS, UNK
from nmt.errors import UserError, reason
from nmt.search.beam_search import beam_search
from nmt.search.translation import Translator
from nmt.serving.graphs import vocabularies
from nmt.types import Batch


class Served(tf.Module):
    """What is saved: weights, tables, and the graph that translates."""

    def __init__(self, translator: Translator) -> None:
        super().__init__()
        self.translator = translator
        self.weights = list(translator.weights)
        self.source = vocabularies.make(translator.source)
        self.target = vocabularies.make(translator.target)

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="sentences")], autograph=False
    )
    def translate(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """The best translation of every sentence with its score; of an empty one, nothing."""
        blank = tf.strings.regex_full_match(sentences, f"{vocabularies.WHITESPACE}*")
        found = beam_search(
            self.translator.model, self.weights, self.batch(sentences), self.translator.search
        )
        texts = self.target.decode(found.ids[:, 0])
        return {
            "translations": tf.where(blank, "", texts),
            "scores": tf.where(blank, 0.0, found.scores[:, 0]),
        }

    def batch(self, sentences: tf.Tensor) -> Batch:
        """Sentences to read; there are no targets."""
        ids = self.source.encode(sentences)
        source = tf.pad(ids.to_tensor(UNK), [[0, 0], [0, 1]], constant_values=UNK)
        lengths = tf.maximum(tf.cast(ids.row_lengths(), tf.int32), 1)
        source = source[:, : tf.reduce_max(tf.concat([lengths, [1]], axis=0))]
        ends = tf.fill([tf.shape(source)[0], 1], EOS)
        return Batch(source, lengths, ends, tf.ones_like(lengths))


def save(translator: Translator, path: Path) -> None:
    """Writes the model; what is there as a directory is whole."""
    served = Served(translator)
    part = path.with_name(f".{path.name}.part")
    try:
        tf.saved_model.save(
            served,
            str(part),
            signatures={"serving_default": served.translate},
            # Those of the scan's loops cannot be saved, and nobody trains what is served.
            options=tf.saved_model.SaveOptions(experimental_custom_gradients=False),
        )
        part.rename(path)
    except (OSError, tf.errors.OpError) as error:
        raise UserError(
            f"--to={path} cannot be written: {reason(error)}; make room, or name another directory"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
