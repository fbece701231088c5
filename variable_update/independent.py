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
        for copy, gradients in zip(self.copies, replicas):
            with tf.device(copy.device):
                copy.optimizer.update(copy.optimizer.means(gradients), step)
