"""The learning rate as a function of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import tensorflow as tf

from nmt.config import OptimizerConfig

Decay = Callable[[OptimizerConfig, tf.Tensor], tf.Tensor]

# Each takes the time since the warm-up in units of --decay_steps.
DECAYS: Final[dict[str, Decay]] = {
    "none": lambda _, time: tf.ones_like(time),
    "inverse_sqrt": lambda _, time: tf.math.rsqrt(1.0 + time),
    "exponential": lambda config, time: tf.pow(config.decay_rate, time),
}


def learning_rate(config: OptimizerConfig, step: tf.Tensor) -> tf.Tensor:
    """The rate of an update; `step` counts the updates before it."""
    done = tf.cast(step, tf.float32)
    rising = tf.minimum(1.0, (done + 1.0) / max(1, config.warmup_steps))
    time = tf.maximum(0.0, done - config.warmup_steps) / config.decay_steps
    return config.learning_rate * rising * DECAYS[config.learning_rate_decay](config, time)
