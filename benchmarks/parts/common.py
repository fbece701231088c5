"""What all parts of a step are measured with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

Work = Callable[[], Any]


class Sizes(NamedTuple):
    """What is computed."""

    batch: int = 64
    time: int = 14
    units: int = 512
    vocabulary: int = 8000
    layers: int = 4


def numbers(*shape: int) -> tf.Variable:
    """Any numbers; in a variable, for TensorFlow computes with constants beforehand."""
    return tf.Variable(0.05 * tf.random.normal(shape), trainable=False)


def compiled(function: Callable[..., tf.Tensor], *values: tf.Variable, **how: Any) -> Work:
    """One call of a graph; of the result a single number is read."""

    def run() -> tf.Tensor:
        return tf.reshape(function(*(value.read_value() for value in values)), [-1])[0]

    return tf.function(run, autograph=False, **how)


def repeated(count: int, step: Callable[[tf.Tensor], tf.Tensor], first: tf.Tensor) -> tf.Tensor:
    """A loop in the graph, as over time."""
    return tf.while_loop(
        lambda time, _: time < count, lambda time, value: (time + 1, step(value)), (0, first)
    )[1]
