"""One training step over all replicas, compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from nmt.model import Model
from nmt.types import BATCH_SPEC, Batch, ReplicaGradients, StepResult
from variable_update.base import VariableUpdate


class Trainer:
    """A model, the strategy that holds its variables, and the count of updates made."""

    def __init__(self, model: Model, strategy: VariableUpdate, seed: int) -> None:
        self.model = model
        self.strategy = strategy
        self.seed = seed
        with tf.device("CPU:0"):
            self.step = tf.Variable(0, dtype=tf.int64, trainable=False, name="step")
        batches = (BATCH_SPEC,) * len(strategy.devices)
        self.train_step = tf.function(self._train_step, input_signature=(batches,), autograph=False)
        self.replica_step = tf.function(
            self._replica_step, input_signature=self._replica_spec(), autograph=False
        )

    def _replica_spec(self) -> tuple[Any, ...]:
        weights = [tf.TensorSpec(spec.shape, tf.float32) for spec in self.model.flat_specs]
        return weights, BATCH_SPEC, tf.TensorSpec([2], tf.int32)

    def _train_step(self, batches: Sequence[Batch]) -> StepResult:
        """Updates the variables from one batch per replica."""
        gradients, results = [], []
        for replica, (device, batch) in enumerate(zip(self.strategy.devices, batches)):
            weights = self.strategy.read(replica)
            seed = tf.stack([self.seed + replica, tf.cast(self.step, tf.int32)])
            with tf.device(device):
                # Traced at the first call; the other replicas call the same graph.
                sums, result = self.replica_step(weights, batch, seed)
            gradients.append(ReplicaGradients(sums, result.num_tokens))
            results.append(result)
        self.strategy.apply(gradients, self.step.read_value())
        self.step.assign_add(1)
        return StepResult(*(tf.add_n(list(parts)) for parts in zip(*results)))

    def _replica_step(
        self, weights: list[tf.Tensor], batch: Batch, seed: tf.Tensor
    ) -> tuple[list[tf.Tensor], StepResult]:
        """Gradient sums of one replica; embeddings' gradients are made dense."""
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss_sum = self.model.loss_sum(weights, batch, seed)
        sums = [tf.convert_to_tensor(g) for g in tape.gradient(loss_sum, weights)]
        return sums, StepResult(loss_sum, *count_words(batch))


def count_words(batch: Batch) -> tuple[tf.Tensor, tf.Tensor]:
    """Target tokens, and source and target tokens together; rows that only fill up do not count."""
    real = batch.target_lengths > 0
    source = tf.reduce_sum(tf.where(real, batch.source_lengths, 0))
    target = tf.reduce_sum(batch.target_lengths)
    return tf.cast(target, tf.float32), tf.cast(source + target, tf.float32)
