"""What every LSTM implementation shares: weights, states, and a stack run layer by layer.

Activations are time-major, `[time, batch, depth]`, so that one time step is contiguous. Gates stand
in the order input, forget, candidate, output (as in cuDNN and Keras) along a weight's last axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf


class LayerWeights(NamedTuple):
    """One direction of one layer."""

    kernel: tf.Tensor  # [input_depth, 4 * units]
    recurrent: tf.Tensor  # [units, 4 * units]
    bias: tf.Tensor  # [4 * units]


class State(NamedTuple):
    """What a layer remembers between two time steps."""

    hidden: tf.Tensor  # [batch, units]
    cell: tf.Tensor  # [batch, units]


Layer = Sequence[LayerWeights]
"""One entry per direction: forward, or forward and backward."""


class Words(NamedTuple):
    """Rows of a table, by their numbers."""

    table: tf.Tensor  # [vocabulary, depth]
    ids: tf.Tensor  # [time, batch] int32


class StackInputs(NamedTuple):
    """What a stack reads: a sequence, or the words it is made from.

    `initial` has one state per layer and direction, layer first. `lengths` None means that every
    sequence fills all time steps, or that nobody looks at what comes after its end.
    """

    sequence: Any  # [time, batch, depth], or Words
    lengths: tf.Tensor | None  # [batch] int32
    initial: Sequence[State]
    residual: bool = False  # every layer but the first adds its input to its output
    from_zero: bool = False  # the initial states are zeros, and nobody asks for their gradient


class StackOutputs(NamedTuple):
    """The top layer's outputs, zero after a sequence's end, and each layer's last real state."""

    sequence: tf.Tensor  # [time, batch, directions * units]
    final: list[State]


@dataclass(frozen=True)
class Dropout:
    """Drops values of every layer's input; a rate of 0 leaves them alone."""

    rate: float
    seed: tf.Tensor | None  # [2] int32; the same seed drops the same values

    def __call__(self, values: tf.Tensor, site: int) -> tf.Tensor:
        """Applies dropout; two sites of one step drop independently."""
        if not self.rate:
            return values
        seed = tf.random.experimental.stateless_fold_in(self.seed, site)
        # 16 bits draw too few different numbers for a rate.
        wide = tf.cast(values, tf.float32)
        dropped = tf.nn.experimental.stateless_dropout(wide, self.rate, seed)
        return tf.cast(dropped, values.dtype)


NO_DROPOUT = Dropout(0.0, None)


def embed(sequence: tf.Tensor | Words) -> tf.Tensor:
    """Words as a sequence, `[time, batch, depth]`; a sequence as it is."""
    return tf.gather(*sequence) if isinstance(sequence, Words) else sequence


Drop = Callable[[tf.Tensor, int], tf.Tensor]
RunLayer = Callable[[StackInputs, Layer], StackOutputs]
RunStack = Callable[[StackInputs, Sequence[Layer], Dropout], StackOutputs]


def layer_by_layer(
    run_layer: RunLayer,
) -> Callable[[StackInputs, Sequence[Layer], Drop], StackOutputs]:
    """Makes a stack of a layer's computation: each reads the whole output of the one below."""

    def run_stack(inputs: StackInputs, layers: Sequence[Layer], dropout: Drop) -> StackOutputs:
        sequence, final, initial = inputs.sequence, [], list(inputs.initial)
        for site, layer in enumerate(layers):
            own, initial = initial[: len(layer)], initial[len(layer) :]
            dropped = dropout(sequence, site)
            outputs, states = run_layer(inputs._replace(sequence=dropped, initial=own), layer)
            sequence = sequence + outputs if inputs.residual and site else outputs
            final += states
        return StackOutputs(sequence, final)

    return run_stack


def zero_states(layers: Sequence[Layer], batch_size: tf.Tensor) -> list[State]:
    """The states a stack starts from when nobody hands it any."""
    zeros = [
        tf.zeros([batch_size, weights.recurrent.shape[0]], weights.recurrent.dtype)
        for layer in layers
        for weights in layer
    ]
    return [State(zero, zero) for zero in zeros]


def reverse(sequence: tf.Tensor, lengths: tf.Tensor | None, batch_axis: int = 1) -> tf.Tensor:
    """Turns each sequence round and leaves its padding at the end: [a, b, c, 0] -> [c, b, a, 0]."""
    if lengths is None:
        return tf.reverse(sequence, axis=[0])
    return tf.reverse_sequence(sequence, lengths, seq_axis=0, batch_axis=batch_axis)
