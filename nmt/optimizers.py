"""Update rules, each a fused TensorFlow kernel per variable."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

import tensorflow as tf

from nmt.config import OptimizerConfig
from nmt.schedules import learning_rate
from nmt.types import ReplicaGradients


class Scale(NamedTuple):
    """What makes sums over tokens into clipped means."""

    factor: tf.Tensor
    norm: tf.Tensor  # of the mean, before it is clipped


Handles = tuple[tf.Tensor, ...]
"""Resources: a variable's, then its slots'."""


class Update(NamedTuple):
    """One variable's share of a step."""

    variable: tf.Tensor  # handles
    slots: Sequence[tf.Tensor]
    gradient: tf.Tensor  # token mean, clipped
    rate: tf.Tensor
    step: tf.Tensor  # updates before this one


class Optimizer(abc.ABC):
    """Updates one set of variables; its slots live where the variables live."""

    slot_names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: OptimizerConfig, variables: Sequence[tf.Variable]) -> None:
        self.config = config
        self.variables = list(variables)
        self.slots = [[self.new_slot(v, name) for name in self.slot_names] for v in variables]

    @staticmethod
    def new_slot(variable: tf.Variable, name: str) -> tf.Variable:
        """Zeros beside a variable."""
        with tf.device(variable.device):
            return tf.Variable(tf.zeros_like(variable), trainable=False, name=name)

    def scale(self, gradients: ReplicaGradients) -> Scale:
        """The factor that makes sums into clipped means.

        Copies that agree share it, for it may differ in its last bit from device to device.
        """
        squares = []
        for variable, total in zip(self.variables, gradients.sums):
            with tf.device(variable.device):
                squares.append(tf.nn.l2_loss(total))
        return clipped_mean_scale(squares, gradients.num_tokens, self.config.max_gradient_norm)

    def update(self, sums: Sequence[tf.Tensor], scale: tf.Tensor, step: tf.Tensor) -> None:
        """Updates every variable where it lives."""
        for variable, handles, total in zip(self.variables, self.handles(), sums):
            with tf.device(variable.device):
                self.update_handles([handles], [total], scale, step)

    def handles(self) -> list[Handles]:
        """Each variable's handle and its slots'."""
        return [
            (variable.handle, *(slot.handle for slot in slots))
            for variable, slots in zip(self.variables, self.slots)
        ]

    def update_handles(
        self,
        handles: Sequence[Handles],
        sums: Sequence[tf.Tensor],
        scale: tf.Tensor,
        step: tf.Tensor,
    ) -> None:
        """Updates variables by their handles: those of any copy, on the current device."""
        rate = learning_rate(self.config, step)
        for (variable, *slots), total in zip(handles, sums):
            self.update_one(Update(variable, slots, total * scale, rate, step))

    @abc.abstractmethod
    def update_one(self, to: Update) -> None:
        """Updates one variable."""


class Sgd(Optimizer):
    """Plain gradient descent."""

    def update_one(self, to: Update) -> None:
        """Takes one step against the gradient."""
        tf.raw_ops.ResourceApplyGradientDescent(var=to.variable, alpha=to.rate, delta=to.gradient)


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015) with dense moments, embeddings included."""

    slot_names = ("m", "v")
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def update_one(self, to: Update) -> None:
        """Moves by the mean gradient over its root mean square."""
        count = tf.cast(to.step + 1, tf.float32)
        tf.raw_ops.ResourceApplyAdam(
            var=to.variable,
            m=to.slots[0],
            v=to.slots[1],
            beta1_power=tf.pow(self.beta1, count),
            beta2_power=tf.pow(self.beta2, count),
            lr=to.rate,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            grad=to.gradient,
        )


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019); biases do not decay."""

    def update_one(self, to: Update) -> None:
        """Shrinks a matrix in proportion to the learning rate, then does what Adam does."""
        if len(to.gradient.shape) > 1:
            value = tf.raw_ops.ReadVariableOp(resource=to.variable, dtype=to.gradient.dtype)
            decay = to.rate * self.config.weight_decay
            tf.raw_ops.AssignSubVariableOp(resource=to.variable, value=decay * value)
        super().update_one(to)


OPTIMIZERS: Final[dict[str, type[Optimizer]]] = {"sgd": Sgd, "adam": Adam, "adamw": AdamW}


def clipped_mean_scale(
    half_squares: Sequence[tf.Tensor], num_tokens: tf.Tensor, max_norm: float
) -> Scale:
    """The factor to token means whose global norm is at most `max_norm` (0: as they are)."""
    mean = tf.math.divide_no_nan(1.0, num_tokens)
    norm = tf.sqrt(2.0 * tf.add_n(list(half_squares))) * mean
    return Scale(mean * (max_norm / tf.maximum(norm, max_norm)) if max_norm else mean, norm)


def make_optimizer(config: OptimizerConfig, variables: Sequence[tf.Variable]) -> Optimizer:
    """Builds the optimizer a configuration names."""
    return OPTIMIZERS[config.optimizer](config, variables)
