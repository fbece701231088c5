"""Greedy translation: the most likely word at every step, in one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from input_pipeline.vocabulary import BOS, EOS
from nmt.attention import Memory, attend
from nmt.lstm.dynamic import FusedWeights, cell, fuse
from nmt.lstm.layers import State
from nmt.model import Encoded, Model, hand_over
from nmt.types import Batch
from nmt.weights import ModelWeights


class Prediction(NamedTuple):
    """One step of decoding."""

    scores: tf.Tensor  # [batch, vocabulary] float32
    states: list[State]
    shares: tf.Tensor | None  # [batch, source_time], where there is attention


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
        """What may come after these words."""
        values = tf.gather(self.weights.target_embedding, words)
        new = []
        for number, (layer, state) in enumerate(zip(self.layers, states)):
            new.append(cell(values, state, layer))
            above = self.model.residual and number
            values = values + new[-1].hidden if above else new[-1].hidden
        shares = None
        if self.model.score is not None and memory is not None:
            queries = values[:, tf.newaxis]
            found = attend(self.model.score, queries, memory, self.weights.attention)
            values, shares = found.outputs[:, 0], found.shares[:, 0]
        return Prediction(tf.cast(values @ self.weights.projection, tf.float32), new, shares)


def make_decoder(model: Model, flat: Sequence[tf.Tensor]) -> Decoder:
    """Prepares the weights once, before the loop over words."""
    weights = model.pack(flat)
    return Decoder(model, weights, [fuse(layer) for (layer,) in weights.decoder])


def greedy(
    model: Model, flat: Sequence[tf.Tensor], batch: Batch, max_length: tf.Tensor
) -> tf.Tensor:
    """Translates the batch's sources: `[batch, time]` ids, </s> from each sentence's end on."""
    decoder = make_decoder(model, flat)
    states, memory = decoder.start(batch)
    batch_size = tf.shape(batch.source)[0]

    def going(time: tf.Tensor, words: tf.Tensor, *_: Any) -> tf.Tensor:
        return (time < max_length) & tf.reduce_any(words != EOS)

    def step(
        time: tf.Tensor, words: tf.Tensor, states: list[State], output: tf.TensorArray
    ) -> tuple[object, ...]:
        scores, states, _ = decoder.predict(words, states, memory)
        best = tf.argmax(scores, axis=1, output_type=tf.int32)
        best = tf.where(words == EOS, EOS, best)
        return time + 1, best, states, output.write(time, best)

    output = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[None])
    start = (0, tf.fill([batch_size], BOS), states, output)
    result = tf.while_loop(going, step, start)
    return tf.transpose(result[3].stack())
