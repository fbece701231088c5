"""The fast CPU path of `cudnn_lstm`: as little as possible inside the loop over time.

The input projection of all time steps is done before the loop (`projection`), weight gradients are
one matmul each after the backward loop, and both directions of a layer share a matmul per step.
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
    StackInputs,
    StackOutputs,
    State,
    Words,
    embed,
    layer_by_layer,
    reverse,
)
from nmt.lstm.projection import (
    flatten,
    outer_products,
    project_views,
    project_words,
    side_by_side,
    swap,
    taken_apart,
)
from nmt.lstm.recurrence import find_ends, run_backward, run_forward

Backward = Callable[..., tuple[Any, ...]]


class Scanned(NamedTuple):
    """All hidden states of a recurrence, and the last state of each sequence."""

    hidden: tf.Tensor  # [time, directions, units, batch]
    last: State  # [directions, units, batch]


def scan(
    projected: tf.Tensor, recurrent: Sequence[tf.Tensor], initial: State, lengths: tf.Tensor | None
) -> Scanned:
    """Runs one layer's recurrence with a gradient of its own; the state has a directions axis."""
    ends = find_ends(lengths, projected)

    @tf.custom_gradient
    def run(
        projected: tf.Tensor, hidden: tf.Tensor, cell: tf.Tensor, *recurrent: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, ...], Backward]:
        weights = side_by_side(recurrent)
        tape = run_forward(projected, weights, State(hidden, cell))
        num_steps = tf.shape(projected)[0]
        states = tape.hidden.gather(tf.range(1, num_steps + 1))

        def backward(d_states: tf.Tensor, *d_last: tf.Tensor) -> tuple[Any, ...]:
            gates, passed = run_backward(tape, weights, d_states, State(*d_last), ends)
            before = flatten(tape.hidden.gather(tf.range(num_steps)))
            return gates, *passed, *outer_products(before, flatten(gates))

        last = ends.pick(tape.hidden, num_steps), ends.pick(tape.cells, num_steps)
        return (states, *last), backward

    states, *last = run(projected, *initial, *recurrent)
    return Scanned(states, State(*last))


def run_layer(inputs: StackInputs, layer: Layer) -> StackOutputs:
    """Runs a layer in one or both directions; the outputs of both stand under each other.

    Sequences and states come and go features-major, `[time, depth, batch]` and `[units, batch]`.
    """
    lengths = inputs.lengths
    read = project_words if isinstance(inputs.sequence, Words) else project_views
    hidden, last = scan(
        read(inputs.sequence, lengths, layer),
        [weights.recurrent for weights in layer],
        State(*map(side_by_side, zip(*inputs.initial))),
        lengths,
    )
    outputs = taken_apart(hidden, axis=1)
    if len(layer) == 2:
        outputs[1] = reverse(outputs[1], lengths, batch_axis=2)
    states = [State(*state) for state in zip(*map(taken_apart, last))]
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
    """Runs the layers; only the top one's padding is cleared, since no layer reads the others'.

    Words that repeat are projected once, but for dropout: then no two of them are the same.
    """
    sequence = inputs.sequence
    if dropout.rate or not isinstance(sequence, Words):
        sequence = swap(embed(sequence))
    turned = inputs._replace(sequence=sequence, initial=list(map(turn, inputs.initial)))
    outputs = run_layers(turned, layers, TurnedDropout(*dropout))
    sequence = silence(swap(outputs.sequence), inputs.lengths)
    return StackOutputs(sequence, list(map(turn, outputs.final)))


def turn(state: State) -> State:
    """A state with its axes swapped."""
    return State(*map(tf.transpose, state))
