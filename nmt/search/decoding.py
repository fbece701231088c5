"""One step of the decoder at a time, as translating needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from nmt.network.attention import Memory, combine, look
from nmt.network.lstm.dynamic import FusedWeights, cell, fuse
from nmt.network.lstm.layers import State
from nmt.network.model import Encoded, Model, hand_over
from nmt.network.weights import ModelWeights
from nmt.types import Batch


class Rows(NamedTuple):
    """Rows of the hypotheses that go on: those that have ended have none and cost nothing."""

    places: tf.Tensor  # [rows], of batch * width
    of_place: tf.Tensor  # [batch, width]; where there is none, any other's

    def spread(self, values: tf.Tensor) -> tf.Tensor:
        """Rows to `[batch, width, ...]`."""
        return tf.gather(values, self.of_place)

    def pick(self, values: tf.Tensor) -> tf.Tensor:
        """`[batch, width, ...]` to rows."""
        return tf.gather(tf.reshape(values, [-1, *values.shape[2:]]), self.places)


def rows_of(going_on: tf.Tensor) -> Rows:
    """A row for each hypothesis, `[batch, width]`, that goes on."""
    flat = tf.reshape(going_on, [-1])
    numbers = tf.maximum(tf.cumsum(tf.cast(flat, tf.int32)) - 1, 0)
    return Rows(tf.where(flat)[:, 0], tf.reshape(numbers, tf.shape(going_on)))


class Prediction(NamedTuple):
    """One step of decoding."""

    scores: tf.Tensor  # [rows, vocabulary] float32
    states: list[State]  # [rows, units]
    shares: tf.Tensor | None  # [batch, width, source_time], where there is attention


class Decoder(NamedTuple):
    """The model with what one step of decoding needs of its weights."""

    model: Model
    weights: ModelWeights
    layers: list[FusedWeights]

    def start(self, batch: Batch) -> Encoded:
        """Reads the source; the states are the decoder's."""
        encoded = self.model.encode(self.weights, batch)
        return encoded._replace(states=hand_over(encoded.states, self.weights))

    def predict(
        self, words: tf.Tensor, rows: Rows, states: Sequence[State], memory: Memory | None
    ) -> Prediction:
        """What may come after these words, `[batch, width]`, of hypotheses that go on."""
        values = tf.gather(self.weights.target_embedding, rows.pick(words))
        new = []
        for number, (layer, state) in enumerate(zip(self.layers, states)):
            new.append(cell(values, state, layer))
            above = self.model.residual and number
            values = values + new[-1].hidden if above else new[-1].hidden
        shares = None
        if self.model.score is not None and memory is not None:
            # All hypotheses of a sentence look at one memory.
            weights = self.weights.attention
            found, shares = look(self.model.score, rows.spread(values), memory, weights)
            values = combine(rows.pick(found), values, weights)
        return Prediction(tf.cast(values @ self.weights.projection, tf.float32), new, shares)


def make_decoder(model: Model, flat: Sequence[tf.Tensor]) -> Decoder:
    """Prepares the weights once, before the loop over words."""
    weights = model.pack(flat)
    return Decoder(model, weights, [fuse(layer) for (layer,) in weights.decoder])
