"""One step of the decoder at a time, as translating needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from nmt.network.attention import Memory, attend
from nmt.network.lstm.dynamic import FusedWeights, cell, fuse
from nmt.network.lstm.layers import State
from nmt.network.model import Encoded, Model, hand_over
from nmt.network.weights import ModelWeights
from nmt.types import Batch


class Prediction(NamedTuple):
    """One step of decoding."""

    scores: tf.Tensor  # [batch * width, vocabulary] float32
    states: list[State]  # [batch * width, units]
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
        self, words: tf.Tensor, states: Sequence[State], memory: Memory | None
    ) -> Prediction:
        """What may come after these words, `[batch, width]`, of a sentence's hypotheses."""
        values = tf.gather(self.weights.target_embedding, tf.reshape(words, [-1]))
        new = []
        for number, (layer, state) in enumerate(zip(self.layers, states)):
            new.append(cell(values, state, layer))
            above = self.model.residual and number
            values = values + new[-1].hidden if above else new[-1].hidden
        shares = None
        if self.model.score is not None and memory is not None:
            # All hypotheses of a sentence look at one memory.
            queries = tf.reshape(values, [*tf.unstack(tf.shape(words)), values.shape[1]])
            found = attend(self.model.score, queries, memory, self.weights.attention)
            values, shares = tf.reshape(found.outputs, tf.shape(values)), found.shares
        return Prediction(tf.cast(values @ self.weights.projection, tf.float32), new, shares)


def make_decoder(model: Model, flat: Sequence[tf.Tensor]) -> Decoder:
    """Prepares the weights once, before the loop over words."""
    weights = model.pack(flat)
    return Decoder(model, weights, [fuse(layer) for (layer,) in weights.decoder])
