"""Replicated: a copy of the variables on each device, gradients exchanged, every copy updated."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.machine.devices import call_attributes
from nmt.types import Place, ReplicaGradients, UpdateResult
from variable_update.base import (
    Ingredients,
    VariableUpdate,
    add_up,
    another_copy,
    new_copy,
    variable_bytes,
)
from variable_update.late import Late


class Replicated(VariableUpdate):
    """Every copy gets the same summed gradients, so the copies stay equal to the bit."""

    name = "replicated"
    synchronous = True

    def __init__(self, made_from: Ingredients) -> None:
        self.devices = tuple(made_from.devices)
        self.exchange = made_from.exchange
        self.rows = made_from.rows
        self.skips = made_from.skips
        first = new_copy(made_from, on(self.devices[0]))
        others = (another_copy(made_from, first, device) for device in self.devices[1:])
        self.copies = [first, *others]
        # Traced at the first call; the other copies call the same graph.
        self.update_copy = tf.function(
            first.optimizer.update_handles,
            autograph=False,
            experimental_attributes=call_attributes(self.devices[0]),
        )
        self.late = Late(self.devices, self.copies[0].variables) if made_from.relaxed else None

    def read(self, replica: int) -> list[tf.Tensor]:
        """The replica's own copy."""
        with tf.device(self.devices[replica]):
            return [variable.read_value() for variable in self.copies[replica].variables]

    def agree(self, replicas: Sequence[ReplicaGradients]) -> list[ReplicaGradients]:
        """Gives every copy the sum of all gradients."""
        fresh, replicas = replicas, self.late.read() if self.late else replicas
        handed_in = [gradients.sums for gradients in replicas]
        sums = self.exchange(handed_in, self.devices, self.rows)
        if self.late:
            self.late.write(fresh, after=tf.nest.flatten(sums))
        with tf.device(self.devices[0]):
            num_tokens = add_up([gradients.num_tokens for gradients in replicas])
            loss_sum = add_up([gradients.loss_sum for gradients in replicas])
        return [ReplicaGradients(mine, num_tokens, loss_sum) for mine in sums]

    def update(self, agreed: Sequence[ReplicaGradients], step: tf.Tensor) -> UpdateResult:
        """Updates every copy; where gradients are late, not before there are any."""
        if not self.late:
            return self.update_copies(agreed, step)
        result: UpdateResult = tf.cond(
            agreed[0].num_tokens > 0.0,
            lambda: self.update_copies(agreed, step - 1),
            lambda: UpdateResult(tf.zeros([]), tf.zeros([])),
        )
        return result

    def update_copies(self, agreed: Sequence[ReplicaGradients], step: tf.Tensor) -> UpdateResult:
        """Updates every copy; all share one scale, so that they stay equal."""
        with tf.device(self.devices[0]):
            factor, norm = self.copies[0].optimizer.scale(agreed[0])

        def update() -> None:
            for device, copy, mine in zip(self.devices, self.copies, agreed):
                with tf.device(device):
                    self.update_copy(copy.optimizer.handles(), mine.sums, factor, step)

        return self.guarded(agreed[0].loss_sum, norm, update)

    def describe(self) -> str:
        """One line for the plan: who holds what, and how they agree."""
        how = "nothing to exchange"
        if len(self.devices) > 1:
            how = self.exchange.describe(self.sizes(), self.rows)
        how += f", rows of {len(self.rows)} embeddings" if self.rows else ""
        how += ", one step late" if self.late else ""
        return f"{self.name}: a copy of the variables on {', '.join(self.devices)}; {how}"

    def exchange_bytes(self) -> int:
        """What the all-reduce sends."""
        return self.exchange.num_bytes(self.sizes(), self.devices, self.rows)

    def sizes(self) -> list[int]:
        """Bytes of every gradient."""
        return [variable_bytes(variable) for variable in self.copies[0].variables]


def on(device: str) -> Place:
    """Every variable on one device."""
    return lambda _: device
