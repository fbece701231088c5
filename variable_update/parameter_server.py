"""Parameter server: one copy of the variables, read by every replica."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.types import ReplicaGradients
from variable_update.base import VariableUpdate, sum_over_replicas


class ParameterServer(VariableUpdate):
    """One master copy on the first device; the sum and the update happen there, once."""

    name = "parameter_server"
    synchronous = True

    def homes(self) -> Sequence[str]:
        """Only the first device holds variables."""
        return self.devices[:1]

    def read(self, replica: int) -> list[tf.Tensor]:
        """The master copy, brought to the replica's device."""
        with tf.device(self.devices[replica]):
            return [tf.identity(variable) for variable in self.copies[0].variables]

    def apply(self, replicas: Sequence[ReplicaGradients], step: tf.Tensor) -> None:
        """Adds all gradients on the first device and updates the master copy."""
        optimizer = self.copies[0].optimizer
        with tf.device(self.devices[0]):
            optimizer.update(optimizer.means(sum_over_replicas(replicas)), step)
