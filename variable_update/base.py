"""What a strategy is: an answer to where variables live and how replicas agree on an update."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import tensorflow as tf

from nmt.optimizers import Optimizer
from nmt.types import CreateVariables, Place, ReplicaGradients, UpdateResult
from variable_update.exchange import Exchange
from variable_update.late import Late
from variable_update.rows import Embedding

MakeOptimizer = Callable[[Sequence[tf.Variable]], Optimizer]


class Ingredients(NamedTuple):
    """What every strategy is made from."""

    devices: Sequence[str]  # one a replica
    create: CreateVariables
    sizes: Sequence[int]  # bytes of each variable
    make_optimizer: MakeOptimizer
    servers: Sequence[str]  # devices that hold a single copy
    exchange: Exchange  # how copies agree
    relaxed: bool = False  # copies are updated with the gradients of the step before
    rows: Mapping[int, Embedding] = {}  # variables whose gradients come as rows
    skips: bool = False  # gradients that are no numbers are left out


class Copy(NamedTuple):
    """One full set of variables, with the optimizer that updates it."""

    variables: list[tf.Variable]
    optimizer: Optimizer

    def state(self) -> list[tf.Variable]:
        """Everything a checkpoint must hold: weights and optimizer slots."""
        return self.variables + [slot for slots in self.optimizer.slots for slot in slots]


class VariableUpdate(abc.ABC):
    """Where the variables live and how replicas agree on the next update."""

    name: ClassVar[str]
    synchronous: ClassVar[bool]  # True: all replicas hold equal weights after every update
    devices: tuple[str, ...]
    rows: Mapping[int, Embedding]  # variables whose gradients it takes as rows
    copies: list[Copy]  # the first is what is saved
    late: Late | None = None  # gradients that wait for the next step
    skips: bool  # gradients that are no numbers are left out

    @property
    def updates_per_step(self) -> int:
        """How many models a step updates."""
        return 1 if self.synchronous else len(self.copies)

    @abc.abstractmethod
    def __init__(self, made_from: Ingredients) -> None:
        """Creates the variables."""

    @abc.abstractmethod
    def read(self, replica: int) -> list[tf.Tensor]:
        """The weights a replica computes with."""

    @abc.abstractmethod
    def agree(self, replicas: Sequence[ReplicaGradients]) -> list[ReplicaGradients]:
        """Exchanges gradients: what each copy is to be updated with, where it lives."""

    @abc.abstractmethod
    def update(self, agreed: Sequence[ReplicaGradients], step: tf.Tensor) -> UpdateResult:
        """Updates each copy with what was agreed on."""

    def guarded(
        self, loss_sum: tf.Tensor, norm: tf.Tensor, update: Callable[[], None]
    ) -> UpdateResult:
        """Updates, but not with gradients that are to be left out."""
        if not self.skips:
            update()
            return UpdateResult(norm, tf.zeros([]))
        finite = tf.math.is_finite(norm) & tf.math.is_finite(loss_sum)
        tf.cond(finite, update, lambda: None)
        return UpdateResult(norm, tf.cast(~finite, tf.float32))

    @abc.abstractmethod
    def describe(self) -> str:
        """One line for the plan: who holds what, and how they agree."""

    @abc.abstractmethod
    def exchange_bytes(self) -> int:
        """What travels between devices in one step."""

    def after_restore(self) -> None:
        """Brings every copy to the state of the first, which a checkpoint was read into."""
        for copy in self.copies[1:]:
            for value, restored in zip(copy.state(), self.copies[0].state()):
                value.assign(restored)


def new_copy(made_from: Ingredients, place: Place) -> Copy:
    """Creates the variables and their optimizer, each where it is to live."""
    variables = made_from.create(place)
    return Copy(variables, made_from.make_optimizer(variables))


def another_copy(made_from: Ingredients, first: Copy, device: str) -> Copy:
    """A copy of the first one's values, which costs less than to draw them anew."""
    with tf.device(device):
        variables = [
            tf.Variable(v.read_value(), name=v.name.split(":")[0]) for v in first.variables
        ]
    return Copy(variables, made_from.make_optimizer(variables))


def variable_bytes(variable: tf.Variable) -> int:
    """Size of a variable."""
    return int(variable.shape.num_elements() * variable.dtype.size)


def add_up(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    """The sum, on the current device."""
    return parts[0] if len(parts) == 1 else tf.add_n(list(parts))
