"""One training step over all replicas, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import tensorflow as tf

from nmt.averages import Averages
from nmt.machine.devices import call_attributes
from nmt.network.model import Model
from nmt.types import (
    BATCH_SPEC,
    Batch,
    Gradient,
    ReplicaGradients,
    ReplicaResult,
    StepResult,
)
from variable_update.base import VariableUpdate
from variable_update.rows import merge

Spaces = tuple[int | None, int | None]
"""For source and target: the id that begins a word, where ids are characters."""


class Trainer:
    """A model, the strategy that holds its variables, and the count of updates made."""

    def __init__(
        self,
        model: Model,
        strategy: VariableUpdate,
        seed: int,
        spaces: Spaces = (None, None),
        ema_decay: float = 0.0,
    ) -> None:
        self.model = model
        self.spaces = spaces
        self.strategy = strategy
        self.seed = seed
        with tf.device("CPU:0"):
            self.step = tf.Variable(0, dtype=tf.int64, trainable=False, name="step")
            # How far the data was read when it was saved, whatever the size of a batch.
            self.epochs = tf.Variable(0.0, dtype=tf.float64, trainable=False, name="epochs")
        weights = strategy.copies[0].variables
        self.averages = Averages(ema_decay, weights) if ema_decay else None
        self.compile()

    def compile(self) -> None:
        """Makes the step's graph anew, with nothing that TensorFlow has learned of the old one."""
        devices = self.strategy.devices
        batches = (BATCH_SPEC,) * len(devices)
        self.train_step = tf.function(self._train_step, input_signature=(batches,), autograph=False)
        self.replica_step = tf.function(
            self._replica_step,
            input_signature=self.replica_spec(),
            autograph=False,
            experimental_attributes=call_attributes(devices[0]),
        )

    def replica_spec(self) -> tuple[Any, ...]:
        """What a replica's function is called with."""
        weights = [tf.TensorSpec(spec.shape, tf.float32) for spec in self.model.flat_specs]
        return weights, BATCH_SPEC, tf.TensorSpec([2], tf.int32)

    def _train_step(self, batches: Sequence[Batch]) -> StepResult:
        """Updates the variables from one batch per replica."""
        gradients, results = [], []
        for replica, (device, batch) in enumerate(zip(self.strategy.devices, batches)):
            weights = self.strategy.read(replica)
            with tf.device(device):
                # Traced at the first call; the other replicas call the same graph.
                sums, result = self.replica_step(weights, batch, self.dropout_seed(replica))
            gradients.append(ReplicaGradients(sums, result.num_tokens, result.loss_sum))
            results.append(result)
        updated = self.strategy.update(self.strategy.agree(gradients), self.step.read_value())
        self.finish_step()
        return StepResult(ReplicaResult(*map(tf.add_n, map(list, zip(*results)))), updated)

    def finish_step(self) -> None:
        """Counts an update that was made; averages follow it."""
        step = self.step.assign_add(1)
        if self.averages:
            self.averages.follow(step)

    @property
    def weights(self) -> list[tf.Variable]:
        """What the model is judged by and kept for: the averages, where there are any."""
        return self.averages.variables if self.averages else self.strategy.copies[0].variables

    def dropout_seed(self, replica: int) -> tf.Tensor:
        """What decides a replica's dropout in this step."""
        with tf.device("CPU:0"):
            return tf.stack([self.seed + replica, tf.cast(self.step, tf.int32)])

    def _replica_step(
        self, weights: list[tf.Tensor], batch: Batch, seed: tf.Tensor
    ) -> tuple[list[Gradient], ReplicaResult]:
        return self.replica_pass(weights, batch, seed)

    def replica_pass(
        self,
        weights: list[tf.Tensor],
        batch: Batch,
        seed: tf.Tensor,
        between: Callable[[tf.Tensor], AbstractContextManager[None]] = nullcontext,
    ) -> tuple[list[Gradient], ReplicaResult]:
        """Gradient sums of one replica, each as the strategy takes it.

        `between` gets the loss and gives what the backward pass is built in.
        """
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss_sum = self.model.loss_sum(weights, batch, seed)
        with between(loss_sum):
            # A decoder of one layer takes one direction's state: the other's layer learns nothing.
            gradients = tape.gradient(loss_sum, weights, unconnected_gradients="zero")
        sums = [
            merge(gradient) if number in self.strategy.rows else dense(gradient, weights[number])
            for number, gradient in enumerate(gradients)
        ]
        return sums, ReplicaResult(loss_sum, *count_words(batch, self.spaces))


def dense(gradient: Gradient, weight: tf.Tensor) -> tf.Tensor:
    """A gradient that knows its shape, which not all operations tell."""
    return tf.ensure_shape(tf.convert_to_tensor(gradient), weight.shape)


def count_words(batch: Batch, spaces: Spaces) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Target ids, words of both sides, ids of both sides; rows that only fill up do not count."""
    source_lengths = tf.where(batch.target_lengths > 0, batch.source_lengths, 0)
    source, target = tf.reduce_sum(source_lengths), tf.reduce_sum(batch.target_lengths)
    words = source if spaces[0] is None else count(batch.source, source_lengths, spaces[0])
    # </s> is a word of its own.
    ends = tf.math.count_nonzero(batch.target_lengths, dtype=tf.int32)
    words += (
        target if spaces[1] is None else count(batch.target, batch.target_lengths, spaces[1]) + ends
    )
    return tuple(tf.cast(number, tf.float32) for number in (target, words, source + target))


def count(ids: tf.Tensor, lengths: tf.Tensor, wanted: int) -> tf.Tensor:
    """How often an id occurs within sentences."""
    inside = tf.sequence_mask(lengths, tf.shape(ids)[1])
    return tf.math.count_nonzero((ids == wanted) & inside, dtype=tf.int32)
