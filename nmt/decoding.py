"""Greedy translation: the most likely word at every step, in one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from input_pipeline.vocabulary import BOS, EOS
from nmt.lstm.dynamic import FusedWeights, cell, fuse
from nmt.lstm.layers import State
from nmt.model import Model, hand_over
from nmt.types import Batch
from nmt.weights import ModelWeights


class Decoder(NamedTuple):
    """The weights one step of decoding needs."""

    embedding: tf.Tensor
    layers: list[FusedWeights]
    projection: tf.Tensor

    def predict(self, words: tf.Tensor, states: Sequence[State]) -> tuple[tf.Tensor, list[State]]:
        """The next words' scores, `[batch, vocabulary]`, and the new states."""
        values = tf.gather(self.embedding, words)
        new = []
        for layer, state in zip(self.layers, states):
            new.append(cell(values, state, layer))
            values = new[-1].hidden
        return values @ self.projection, new


def make_decoder(weights: ModelWeights) -> Decoder:
    """Prepares the weights once, before the loop over words."""
    layers = [fuse(layer) for (layer,) in weights.decoder]
    return Decoder(weights.target_embedding, layers, weights.projection)


def greedy(
    model: Model, flat: Sequence[tf.Tensor], batch: Batch, max_length: tf.Tensor
) -> tf.Tensor:
    """Translates the batch's sources: `[batch, time]` ids, </s> from each sentence's end on."""
    weights = model.pack(flat)
    decoder = make_decoder(weights)
    batch_size = tf.shape(batch.source)[0]

    def going(time: tf.Tensor, words: tf.Tensor, *_: Any) -> tf.Tensor:
        return (time < max_length) & tf.reduce_any(words != EOS)

    def step(
        time: tf.Tensor, words: tf.Tensor, states: list[State], output: tf.TensorArray
    ) -> tuple[object, ...]:
        scores, states = decoder.predict(words, states)
        best = tf.argmax(scores, axis=1, output_type=tf.int32)
        best = tf.where(words == EOS, EOS, best)
        return time + 1, best, states, output.write(time, best)

    states = hand_over(model.encode(weights, batch), weights)
    output = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[None])
    start = (0, tf.fill([batch_size], BOS), states, output)
    result = tf.while_loop(going, step, start)
    return tf.transpose(result[3].stack())
