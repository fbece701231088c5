"""Attention: every target word looks back at all source words.

The decoder's outputs ask, for all time steps at once, so that neither encoder nor decoder leaves
its fast path: what attention finds goes into the prediction, not into the decoder's next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import tensorflow as tf


class AttentionWeights(NamedTuple):
    """What attention learns; its leaves are specs, variables or tensors, or () for none."""

    memory: Any  # [memory_depth, units]
    combine: Any  # [memory_depth + units, units]
    query: Any = ()  # [units, units]
    vector: Any = ()  # [units]
    gain: Any = ()  # [1]
    bias: Any = ()  # [units]


class Memory(NamedTuple):
    """The source as the decoder sees it."""

    values: tf.Tensor  # [batch, source_time, memory_depth]
    keys: tf.Tensor  # [batch, source_time, units]
    inside: tf.Tensor  # [batch, 1, source_time] bool


class Attended(NamedTuple):
    """What the words are predicted from, and how much each source word counted for it."""

    outputs: tf.Tensor  # [batch, time, units]
    shares: tf.Tensor  # [batch, time, source_time] float32


def times(values: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Multiplies the last axis of `values` by weights, in one plain matmul.

    With a batch axis of one, `[batch, 1, time, units]`, oneDNN's batched matmul in TensorFlow 2.21
    gives wrong numbers or crashes where it has to repeat the weights.
    """
    return tf.tensordot(values, weights, axes=1)


Score = Callable[[tf.Tensor, tf.Tensor, AttentionWeights], tf.Tensor]
"""Queries, `[batch, time, units]`, and keys to scores, `[batch, time, source_time]`."""


def luong(queries: tf.Tensor, keys: tf.Tensor, weights: AttentionWeights) -> tf.Tensor:
    """Multiplicative (Luong et al., 2015)."""
    return tf.matmul(queries, keys, transpose_b=True)


def scaled_luong(queries: tf.Tensor, keys: tf.Tensor, weights: AttentionWeights) -> tf.Tensor:
    """The same with a learned factor."""
    return weights.gain * luong(queries, keys, weights)


def bahdanau(queries: tf.Tensor, keys: tf.Tensor, weights: AttentionWeights) -> tf.Tensor:
    """Additive (Bahdanau et al., 2015)."""
    return summed_tanh(times(queries, weights.query), keys, weights.vector)


def normed_bahdanau(queries: tf.Tensor, keys: tf.Tensor, weights: AttentionWeights) -> tf.Tensor:
    """The same with a vector of learned length (Salimans and Kingma, 2016) and a bias."""
    vector = weights.gain * weights.vector * tf.math.rsqrt(tf.reduce_sum(weights.vector**2))
    return summed_tanh(times(queries, weights.query) + weights.bias, keys, vector)


def summed_tanh(queries: tf.Tensor, keys: tf.Tensor, vector: tf.Tensor) -> tf.Tensor:
    """vector . tanh(query + key) for all pairs."""

    @tf.recompute_grad  # a number for each unit of each pair is too much to keep
    def run(queries: tf.Tensor, keys: tf.Tensor, vector: tf.Tensor) -> tf.Tensor:
        pairs = tf.tanh(queries[:, :, tf.newaxis] + keys[:, tf.newaxis])
        return times(pairs, vector)

    return run(queries, keys, vector)


SCORES: Final[dict[str, Score]] = {
    "luong": luong,
    "scaled_luong": scaled_luong,
    "bahdanau": bahdanau,
    "normed_bahdanau": normed_bahdanau,
}


def remember(outputs: tf.Tensor, lengths: tf.Tensor, weights: AttentionWeights) -> Memory:
    """Prepares the encoder's outputs, `[time, batch, depth]`, once for all queries."""
    values = tf.transpose(outputs, [1, 0, 2])
    inside = tf.sequence_mask(lengths, tf.shape(outputs)[0])[:, tf.newaxis]
    return Memory(values, times(values, weights.memory), inside)


def attend(score: Score, queries: tf.Tensor, memory: Memory, weights: AttentionWeights) -> Attended:
    """Looks at the memory from every query, `[batch, time, units]`."""
    context, shares = look(score, queries, memory, weights)
    return Attended(combine(context, queries, weights), shares)


def look(
    score: Score, queries: tf.Tensor, memory: Memory, weights: AttentionWeights
) -> tuple[tf.Tensor, tf.Tensor]:
    """What every query finds, `[batch, time, memory_depth]`, and how much each word counts."""
    scores = tf.cast(score(queries, memory.keys, weights), tf.float32)
    shares = tf.nn.softmax(tf.where(memory.inside, scores, scores.dtype.min))
    return tf.cast(shares, queries.dtype) @ memory.values, shares


def combine(context: tf.Tensor, queries: tf.Tensor, weights: AttentionWeights) -> tf.Tensor:
    """What words are predicted from, of what queries found and themselves, `[..., units]`."""
    return tf.tanh(times(tf.concat([context, queries], axis=-1), weights.combine))
