"""Exponential moving averages of the weights: often the better model to keep."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


class Averages:
    """A second set of weights that follows the first one slowly."""

    def __init__(self, decay: float, weights: Sequence[tf.Variable]) -> None:
        self.decay = decay
        self.weights = list(weights)
        self.variables = []
        for weight in weights:
            with tf.device(weight.device):
                self.variables.append(tf.Variable(weight.read_value(), trainable=False))

    def follow(self, step: tf.Tensor) -> None:
        """Takes in the weights after an update; early ones are forgotten sooner."""
        count = tf.cast(step, tf.float32)
        share = 1.0 - tf.minimum(self.decay, (1.0 + count) / (10.0 + count))
        for average, weight in zip(self.variables, self.weights):
            with tf.device(average.device):
                average.assign_add(share * (weight.read_value() - average.read_value()))
