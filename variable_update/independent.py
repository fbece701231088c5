"""Independent: every replica trains a model of its own; nothing is exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.types import ReplicaGradients
from variable_update.replicated import Replicated


class Independent(Replicated):
    """The upper bound of what replicas can reach; the first copy is what is saved."""

    name = "independent"
    synchronous = False

    def agree(self, replicas: Sequence[ReplicaGradients]) -> list[ReplicaGradients]:
        """Leaves each copy its own replica's gradients."""
        return list(replicas)

    def update(self, agreed: Sequence[ReplicaGradients], step: tf.Tensor) -> None:
        """Updates each copy with a scale of its own."""
        for device, copy, mine in zip(self.devices, self.copies, agreed):
            with tf.device(device):
                scale = copy.optimizer.scale(mine)
                self.update_copy(copy.optimizer.handles(), mine.sums, scale, step)

    def exchange_bytes(self) -> int:
        """Nothing."""
        return 0

    def describe(self) -> str:
        """One line for the plan."""
        places = ", ".join(self.devices)
        return f"{self.name}: a model of its own on each of {places}; nothing is exchanged"
