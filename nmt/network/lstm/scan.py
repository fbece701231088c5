"""The fast CPU path of `cudnn_lstm`: as little as possible inside the loop over time.

The input projection of all time steps is done before the loop (`projection`), weight gradients are
one matmul each after the backward loop, and both directions of a layer share a matmul per step.
Activations are `[time, directions, matrix]`, where a matrix is `[features, batch]` (`columns`).
The forward loop does not look at lengths: last states are picked out afterwards, and padding after
a sequence's end receives no gradient because nothing real depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from nmt.network.lstm import columns
from nmt.network.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    Layer,
    StackInputs,
    StackOutputs,
    State,
    Words,
    embed,
    layer_by_layer,
    reverse,
)
from nmt.network.lstm.projection import project_views, project_words, side_by_side, taken_apart
from nmt.network.lstm.recurrence import Recurrence, Upstream, find_ends, run_backward, run_forward

Backward = Callable[..., tuple[Any, ...]]


class Scanned(NamedTuple):
    """All hidden states of a recurrence, and the last state of each sequence."""

    hidden: tf.Tensor  # [time, directions, matrix]
    last: State  # [directions, matrix]


def scan(projected: tf.Tensor, recurrent: Sequence[tf.Tensor], inputs: StackInputs) -> Scanned:
    """Runs one layer's recurrence with a gradient of its own; states have a directions axis.

    What was projected comes in one of two forms (`projection`), and so does its gradient: weights'
    gradients need it flat, and it is turned for them once.
    """
    initial = State(*map(side_by_side, zip(*inputs.initial)))
    is_flat = len(projected.shape) == 3

    @tf.custom_gradient
    def run(
        projected: tf.Tensor, hidden: tf.Tensor, cell: tf.Tensor, *recurrent: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, ...], Backward]:
        recurrence = Recurrence(side_by_side(recurrent), inputs.from_zero)
        batch_size = tf.shape(hidden)[columns.BATCH]
        steps = columns.unflatten(projected, batch_size) if is_flat else projected
        ends, num_steps = find_ends(inputs.lengths, steps), tf.shape(steps)[0]
        tape = run_forward(steps, recurrence, State(hidden, cell))
        states = tape.hidden.stack()  # with the initial one

        def backward(d_states: tf.Tensor, *d_last: tf.Tensor) -> tuple[Any, ...]:
            upstream = Upstream(d_states, State(*d_last), ends)
            gates, passed = run_backward(tape, recurrence, upstream)
            flat = columns.flatten(gates)
            pairs = zip(*map(taken_apart, (columns.flatten(states[:-1]), flat)))
            d_recurrent = (columns.outer(*pair) for pair in pairs)
            return flat if is_flat else gates, *passed, *d_recurrent

        last = ends.pick(tape.hidden, num_steps), ends.pick(tape.cells, num_steps)
        return (states[1:], *last), backward

    states, *last = run(projected, *initial, *recurrent)
    return Scanned(states, State(*last))


def run_layer(inputs: StackInputs, layer: Layer) -> StackOutputs:
    """Runs a layer in one or both directions; features of both stand after each other.

    Sequences and states come and go as `[time, matrix]` and matrices.
    """
    lengths = inputs.lengths
    read = project_words if isinstance(inputs.sequence, Words) else project_views
    projected = read(inputs.sequence, lengths, layer)
    hidden, last = scan(projected, [weights.recurrent for weights in layer], inputs)
    outputs = taken_apart(hidden, axis=1)
    if len(layer) == 2:
        outputs[1] = reverse(outputs[1], lengths, batch_axis=columns.BATCH_OF_THREE)
    states = [State(*state) for state in zip(*map(taken_apart, last))]
    return StackOutputs(tf.concat(outputs, axis=columns.FEATURES), states)


def silence(sequence: tf.Tensor, lengths: tf.Tensor | None) -> tf.Tensor:
    """Puts zeros after each sequence's end."""
    if lengths is None:
        return sequence
    alive = tf.sequence_mask(lengths, tf.shape(sequence)[0], sequence.dtype)  # [batch, time]
    return sequence * tf.transpose(alive)[:, :, tf.newaxis]


run_layers = layer_by_layer(run_layer)


def run_stack(
    inputs: StackInputs, layers: Sequence[Layer], dropout: Dropout = NO_DROPOUT
) -> StackOutputs:
    """Runs the layers; only the top one's padding is cleared, since no layer reads the others'.

    Words that repeat are projected once, but for dropout: then no two of them are the same.
    """

    def turn(state: State) -> State:
        return State(*map(columns.turn, state))

    def drop(values: tf.Tensor, site: int) -> tf.Tensor:
        return columns.turn(dropout(columns.turn(values), site)) if dropout.rate else values

    sequence = inputs.sequence
    if dropout.rate or not isinstance(sequence, Words):
        sequence = columns.turn(embed(sequence))
    turned = inputs._replace(sequence=sequence, initial=list(map(turn, inputs.initial)))
    outputs = run_layers(turned, layers, drop)
    sequence = silence(columns.turn(outputs.sequence), inputs.lengths)
    return StackOutputs(sequence, list(map(turn, outputs.final)))
