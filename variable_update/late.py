"""Relaxed consistency: gradients wait one step, so that their exchange need not be waited for."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.machine.devices import read_where_it_is
from nmt.types import ReplicaGradients


class Late:
    """Holds each replica's gradients for one step.

    step        0    1    2
    handed in   g0   g1   g2
    handed out  0    g0   g1
    """

    def __init__(self, devices: Sequence[str], like: Sequence[tf.Variable]) -> None:
        self.held = [hold(device, like) for device in devices]

    def read(self) -> list[ReplicaGradients]:
        """The last step's gradients; before the first there are none."""
        return [tf.nest.map_structure(read_where_it_is, held) for held in self.held]

    def write(self, replicas: Sequence[ReplicaGradients], after: Sequence[tf.Tensor]) -> None:
        """Takes this step's gradients, after something was made from the last one's.

        TensorFlow adds tensors that nobody else holds in another order, which would be a matter of
        chance if these were replaced meanwhile.
        """
        with tf.control_dependencies(after):
            for held, gradients in zip(self.held, replicas):
                tf.nest.map_structure(
                    lambda variable, value: variable.assign(value), held, gradients
                )

    def finite(self) -> bool:
        """Whether all that is held are numbers."""
        held = [variable for held in self.held for variable in held.sums]
        return all(bool(tf.reduce_all(tf.math.is_finite(variable))) for variable in held)

    def take(self, other: Late) -> None:
        """Holds at the first replica all that others held: what is exchanged has the same sum."""
        for held in self.held:
            tf.nest.map_structure(lambda variable: variable.assign(tf.zeros_like(variable)), held)
        for held in other.held:
            tf.nest.map_structure(
                lambda variable, more: variable.assign_add(more), self.held[0], held
            )


def hold(device: str, like: Sequence[tf.Variable]) -> ReplicaGradients:
    """Variables that hold one replica's gradients: none yet."""
    with tf.device(device):
        zeros = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in like]
        counts = (tf.Variable(0.0, trainable=False) for _ in range(2))
        return ReplicaGradients(zeros, *counts)
