"""The fast CPU path of `cudnn_lstm`: as little as possible inside the loop over time.

The input projection of all time steps is done before the loop, the weight gradients are one matmul
after the backward loop, and both directions of a layer share one batched matmul per step.
Activations are features-major here, `[time, directions, depth, batch]`: a weight matrix that stands
to the left of a few columns is what oneDNN multiplies fastest.
The forward loop does not look at lengths: last states are picked out afterwards, and padding after
a sequence's end receives no gradient because nothing real depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from nmt.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    Layer,
    LayerWeights,
    StackInputs,
    StackOutputs,
    State,
    layer_by_layer,
    reverse,
)
from nmt.lstm.recurrence import find_ends, run_backward, run_forward

Backward = Callable[..., tuple[Any, ...]]
swap = tf.linalg.matrix_transpose


def flatten(values: tf.Tensor) -> tf.Tensor:
    """All steps of all sequences side by side: `[directions, depth, time * batch]`."""
    turned = tf.transpose(values, [1, 2, 0, 3])
    return tf.reshape(turned, [*values.shape[1:3], -1])


def unflatten(flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """The opposite of `flatten`; time and batch are those of `like`."""
    num_steps, batch_size = tf.shape(like)[0], tf.shape(like)[3]
    steps = tf.reshape(flat, [*flat.shape[:2], num_steps, batch_size])
    return tf.transpose(steps, [2, 0, 1, 3])


def weight_gradients(inputs: tf.Tensor, before: tf.Tensor, gates: tf.Tensor) -> list[LayerWeights]:
    """Sums the outer products of all time steps, one matmul a weight; everything is flat."""
    gradients = []
    for read, state, raw in zip(*map(tf.unstack, (inputs, before, gates))):
        kernel, recurrent = (tf.matmul(part, raw, transpose_b=True) for part in (read, state))
        gradients.append(LayerWeights(kernel, recurrent, tf.reduce_sum(raw, axis=1)))
    return gradients


class Scanned(NamedTuple):
    """All hidden states of a recurrence, and the last state of each sequence."""

    hidden: tf.Tensor  # [time, directions, units, batch]
    last: State  # [directions, units, batch]


def project(flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Multiplies all time steps by the kernels of all directions; flat in, flat out."""
    # Another axis keeps TensorFlow from folding the transpose into the matmul, slower then.
    projected = swap(kernel)[tf.newaxis] @ flat
    return projected[0] + bias[..., tf.newaxis]


def scan(sequence: tf.Tensor, layer: Layer, initial: State, lengths: tf.Tensor | None) -> Scanned:
    """Runs one layer with a gradient of its own; sequence and state have a directions axis."""
    ends = find_ends(lengths, sequence)

    @tf.custom_gradient
    def run(
        sequence: tf.Tensor, hidden: tf.Tensor, cell: tf.Tensor, *weights: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, ...], Backward]:
        directions = tf.nest.pack_sequence_as(layer, weights)
        kernel, recurrent, bias = (tf.stack(parts) for parts in zip(*directions))
        flat = flatten(sequence)
        projected = unflatten(project(flat, kernel, bias), sequence)
        tape = run_forward(projected, recurrent, State(hidden, cell))
        num_steps = tf.shape(sequence)[0]
        states = tape.hidden.gather(tf.range(1, num_steps + 1))

        def backward(d_states: tf.Tensor, *d_last: tf.Tensor) -> tuple[Any, ...]:
            raw, passed = run_backward(tape, recurrent, d_states, State(*d_last), ends)
            gates = flatten(raw)
            before = flatten(tape.hidden.gather(tf.range(num_steps)))
            gradients = weight_gradients(flat, before, gates)
            d_sequence = unflatten(kernel @ gates, sequence)
            return (d_sequence, *passed, *tf.nest.flatten(gradients))

        last = ends.pick(tape.hidden, num_steps), ends.pick(tape.cells, num_steps)
        return (states, *last), backward

    states, *last = run(sequence, *initial, *tf.nest.flatten(layer))
    return Scanned(states, State(*last))


def run_layer(inputs: StackInputs, layer: Layer) -> StackOutputs:
    """Runs a layer in one or both directions; the outputs of both stand under each other.

    Sequences and states come and go features-major, `[time, depth, batch]` and `[units, batch]`.
    """
    sequence, lengths = inputs.sequence, inputs.lengths
    views = [sequence, reverse(sequence, lengths, batch_axis=2)][: len(layer)]
    hidden, last = scan(
        tf.stack(views, axis=1),
        layer,
        State(*(tf.stack(parts) for parts in zip(*inputs.initial))),
        lengths,
    )
    outputs = tf.unstack(hidden, len(layer), axis=1)
    if len(layer) == 2:
        outputs[1] = reverse(outputs[1], lengths, batch_axis=2)
    states = [State(*state) for state in zip(*map(tf.unstack, last))]
    return StackOutputs(tf.concat(outputs, axis=1), states)


def silence(sequence: tf.Tensor, lengths: tf.Tensor | None) -> tf.Tensor:
    """Puts zeros after each sequence's end."""
    if lengths is None:
        return sequence
    alive = tf.sequence_mask(lengths, tf.shape(sequence)[0], sequence.dtype)  # [batch, time]
    return sequence * tf.transpose(alive)[:, :, tf.newaxis]


class TurnedDropout(Dropout):
    """Drops what it drops elsewhere, where batches come before features."""

    def __call__(self, values: tf.Tensor, site: int) -> tf.Tensor:
        """Applies dropout, features-major."""
        return swap(super().__call__(swap(values), site)) if self.rate else values


run_layers = layer_by_layer(run_layer)


def run_stack(
    inputs: StackInputs, layers: Sequence[Layer], dropout: Dropout = NO_DROPOUT
) -> StackOutputs:
    """Runs the layers; only the top one's padding is cleared, since no layer reads the others'."""
    turned = StackInputs(swap(inputs.sequence), inputs.lengths, list(map(turn, inputs.initial)))
    outputs = run_layers(turned, layers, TurnedDropout(*dropout))
    sequence = silence(swap(outputs.sequence), inputs.lengths)
    return StackOutputs(sequence, list(map(turn, outputs.final)))


def turn(state: State) -> State:
    """A state with its axes swapped."""
    return State(*map(tf.transpose, state))
