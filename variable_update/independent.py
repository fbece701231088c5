"""Independent: every replica trains a model of its own; nothing is exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.types import ReplicaGradients, UpdateResult
from variable_update.replicated import Replicated


class Independent(Replicated):
    """The upper bound of what replicas can reach; the first copy is what is saved."""

    name = "independent"
    synchronous = False

    def agree(self, replicas: Sequence[ReplicaGradients]) -> list[ReplicaGradients]:
        """Leaves each copy its own replica's gradients."""
        return list(replicas)

    def update(self, agreed: Sequence[ReplicaGradients], step: tf.Tensor) -> UpdateResult:
        """Updates each copy with a scale of its own; the norm is the root of their mean square."""
        results = [self.update_one(number, mine, step) for number, mine in enumerate(agreed)]
        norms, skipped = (tf.stack(parts) for parts in zip(*results))
        return UpdateResult(tf.sqrt(tf.reduce_mean(norms**2)), tf.reduce_sum(skipped))

    def update_one(self, number: int, mine: ReplicaGradients, step: tf.Tensor) -> UpdateResult:
        """Updates one copy."""
        optimizer = self.copies[number].optimizer
        with tf.device(self.devices[number]):
            factor, norm = optimizer.scale(mine)
            return self.guarded(
                mine.loss_sum,
                norm,
                lambda: self.update_copy(optimizer.handles(), mine.sums, factor, step),
            )

    def exchange_bytes(self) -> int:
        """Nothing."""
        return 0

    def describe(self) -> str:
        """One line for the plan."""
        places = ", ".join(self.devices)
        return f"{self.name}: a model of its own on each of {places}; nothing is exchanged"
