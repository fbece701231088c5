"""What a strategy is: an answer to where variables live and how replicas agree on an update."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import tensorflow as tf

from nmt.optimizers import Optimizer
from nmt.types import CreateVariables, ReplicaGradients

MakeOptimizer = Callable[[Sequence[tf.Variable]], Optimizer]


class Copy(NamedTuple):
    """One full set of variables on one device, with the optimizer that updates it."""

    device: str
    variables: list[tf.Variable]
    optimizer: Optimizer

    def state(self) -> list[tf.Variable]:
        """Everything a checkpoint must hold: weights and optimizer slots."""
        return self.variables + [slot for slots in self.optimizer.slots for slot in slots]


class VariableUpdate(abc.ABC):
    """Where the variables live and how replicas agree on the next update."""

    name: ClassVar[str]
    synchronous: ClassVar[bool]  # True: all replicas hold equal weights after every update

    def __init__(
        self, devices: Sequence[str], create: CreateVariables, make_optimizer: MakeOptimizer
    ) -> None:
        self.devices = tuple(devices)
        self.copies = [new_copy(home, create, make_optimizer) for home in self.homes()]

    @abc.abstractmethod
    def homes(self) -> Sequence[str]:
        """The devices that hold a copy of the variables; the first copy is what is saved."""

    @abc.abstractmethod
    def read(self, replica: int) -> list[tf.Tensor]:
        """The weights a replica computes with."""

    @abc.abstractmethod
    def apply(self, replicas: Sequence[ReplicaGradients], step: tf.Tensor) -> None:
        """Updates the variables from one gradient set per replica."""

    def after_restore(self) -> None:
        """Brings every copy to the state of the first, which a checkpoint was read into."""
        for copy in self.copies[1:]:
            for value, restored in zip(copy.state(), self.copies[0].state()):
                value.assign(restored)

    def describe(self) -> str:
        """One line for the plan: who holds what."""
        return f"{self.name}: variables on {', '.join(self.homes())}"


def new_copy(device: str, create: CreateVariables, make_optimizer: MakeOptimizer) -> Copy:
    """Creates the variables and their optimizer on a device."""
    with tf.device(device):
        variables = create()
        return Copy(device, variables, make_optimizer(variables))


def sum_over_replicas(replicas: Sequence[ReplicaGradients]) -> ReplicaGradients:
    """Adds matching gradients and token counts, on the current device."""
    if len(replicas) == 1:
        return replicas[0]
    sums = [tf.add_n(list(parts)) for parts in zip(*(r.sums for r in replicas))]
    return ReplicaGradients(sums, tf.add_n([r.num_tokens for r in replicas]))
