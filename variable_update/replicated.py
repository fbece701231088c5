"""Replicated: a copy of the variables on each device, gradients exchanged, every copy updated."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.types import ReplicaGradients
from variable_update.base import VariableUpdate, sum_over_replicas


class Replicated(VariableUpdate):
    """Every copy gets the same summed gradients, so the copies stay equal to the bit."""

    name = "replicated"
    synchronous = True

    def homes(self) -> Sequence[str]:
        """Every device holds variables."""
        return self.devices

    def read(self, replica: int) -> list[tf.Tensor]:
        """The replica's own copy."""
        with tf.device(self.devices[replica]):
            return [variable.read_value() for variable in self.copies[replica].variables]

    def apply(self, replicas: Sequence[ReplicaGradients], step: tf.Tensor) -> None:
        """Adds all gradients on the first device and updates each copy with their mean.

        A norm that each device summed up for itself could differ in its last bit.
        """
        with tf.device(self.devices[0]):
            means = self.copies[0].optimizer.means(sum_over_replicas(replicas))
        for copy in self.copies:
            with tf.device(copy.device):
                copy.optimizer.update(means, step)
