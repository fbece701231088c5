"""Parameter server: one copy of the variables, read by every replica."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import tensorflow as tf

from nmt.types import ReplicaGradients, UpdateResult
from variable_update.base import Ingredients, VariableUpdate, add_up, new_copy
from variable_update.rows import add_rows, row_bytes


class ParameterServer(VariableUpdate):
    """One master copy; the sum and the update happen once, where each variable lives."""

    name = "parameter_server"
    synchronous = True

    def __init__(self, made_from: Ingredients) -> None:
        self.devices = tuple(made_from.devices)
        self.homes = spread(made_from.sizes, made_from.servers)
        self.sizes = made_from.sizes
        self.rows = made_from.rows
        self.skips = made_from.skips
        self.copies = [new_copy(made_from, self.homes.__getitem__)]

    def read(self, replica: int) -> list[tf.Tensor]:
        """The master copy, brought to the replica's device."""
        with tf.device(self.devices[replica]):
            return [tf.identity(variable) for variable in self.copies[0].variables]

    def agree(self, replicas: Sequence[ReplicaGradients]) -> list[ReplicaGradients]:
        """Adds each variable's gradients where it lives."""
        sums = []
        for number, parts in enumerate(zip(*(replica.sums for replica in replicas))):
            with tf.device(self.homes[number]):
                rows = self.rows.get(number)
                sums.append(add_rows(parts, rows) if rows else add_up(parts))
        with tf.device(self.homes[0]):
            num_tokens = add_up([replica.num_tokens for replica in replicas])
            loss_sum = add_up([replica.loss_sum for replica in replicas])
        return [ReplicaGradients(sums, num_tokens, loss_sum)]

    def update(self, agreed: Sequence[ReplicaGradients], step: tf.Tensor) -> UpdateResult:
        """Updates each variable where it lives."""
        optimizer = self.copies[0].optimizer
        with tf.device(self.homes[0]):
            factor, norm = optimizer.scale(agreed[0])
        sums, _, loss_sum = agreed[0]
        return self.guarded(loss_sum, norm, lambda: optimizer.update(sums, factor, step))

    def exchange_bytes(self) -> int:
        """Every replica that is not a variable's home gets it and sends its gradient.

        Rows are counted as the most there can be.
        """
        total = 0
        for number, (home, size) in enumerate(zip(self.homes, self.sizes)):
            gradient = row_bytes(self.rows[number]) if number in self.rows else size
            total += (size + gradient) * sum(device != home for device in self.devices)
        return total

    def describe(self) -> str:
        """One line for the plan: how much lives where."""
        held: Counter[str] = Counter()
        for home, size in zip(self.homes, self.sizes):
            held[home] += size
        places = ", ".join(f"{held[home] / 2**20:.1f} MiB on {home}" for home in sorted(held))
        rows = f"; rows of {len(self.rows)} embeddings' gradients travel" if self.rows else ""
        return f"{self.name}: one copy of the variables, {places}{rows}"


def spread(sizes: Sequence[int], servers: Sequence[str]) -> list[str]:
    """Gives each variable a home: the largest first, always where there is least."""
    held = dict.fromkeys(servers, 0)
    homes = [""] * len(sizes)
    for number in sorted(range(len(sizes)), key=lambda n: -sizes[n]):
        home = min(held, key=held.__getitem__)
        homes[number] = home
        held[home] += sizes[number]
    return homes
