"""The data that travels between the rooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import tensorflow as tf


class Batch(NamedTuple):
    """One replica's share of a step; ids after a sentence's end mean nothing.

    A row with target length 0 only fills the batch up: it is not learned from and not counted.
    """

    source: tf.Tensor  # [batch, source_time] int32
    source_lengths: tf.Tensor  # [batch] int32, at least 1
    target: tf.Tensor  # [batch, target_time] int32, </s> included
    target_lengths: tf.Tensor  # [batch] int32


BATCH_SPEC = Batch(
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None], tf.int32),
)


Gradient: TypeAlias = "tf.Tensor | tf.IndexedSlices"
"""Dense, or the rows of an embedding that a batch has read."""


class ReplicaGradients(NamedTuple):
    """What one replica hands over: sums over its target tokens, never means."""

    sums: list[Gradient]  # of the summed token loss, one entry per variable
    num_tokens: tf.Tensor  # scalar float32, target tokens without padding
    loss_sum: tf.Tensor  # scalar float32, what the gradients are of


class ReplicaResult(NamedTuple):
    """What one replica's part of a step tells."""

    loss_sum: tf.Tensor
    num_tokens: tf.Tensor
    num_words: tf.Tensor  # source and target
    num_ids: tf.Tensor  # the same, but where ids are characters


class UpdateResult(NamedTuple):
    """What an update tells."""

    gradient_norm: tf.Tensor  # of the mean over target tokens, before it is clipped
    num_skipped: tf.Tensor  # copies left as they were, for the norm is no number


class StepResult(NamedTuple):
    """What a step tells; on the device until somebody reads it."""

    replicas: ReplicaResult  # summed
    update: UpdateResult


Place = Callable[[int], str]
"""The device of a variable, by its number."""

CreateVariables = Callable[[Place], list[tf.Variable]]
