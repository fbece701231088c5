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

    def apply(self, replicas: Sequence[ReplicaGradients], step: tf.Tensor) -> None:
        """Updates each copy with its own replica's gradients."""
        for device, copy, gradients in zip(self.devices, self.copies, replicas):
            with tf.device(device):
                scale = copy.optimizer.scale(gradients)
                self.update(copy.optimizer.handles(), gradients.sums, scale, step)

    def exchange_bytes(self) -> int:
        """Nothing."""
        return 0

    def describe(self) -> str:
        """One line for the plan."""
        places = ", ".join(self.devices)
        return f"{self.name}: a model of its own on each of {places}; nothing is exchanged"
