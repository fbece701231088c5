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

Backward = Callable[..., tuple[Any, ...]]
swap = tf.linalg.matrix_transpose


class Tape(NamedTuple):
    """What the forward loop leaves for the backward loop: one element per time step.

    Elements are `[directions, units, batch]` and are read back where they lie, without a copy.
    """

    gates: list[tf.TensorArray]  # enter, forget, candidate, leave, after their activations
    squashed: tf.TensorArray  # tanh of the new cell
    cells: tf.TensorArray  # element t is the cell before step t
    hidden: tf.TensorArray


def new_tape(num_steps: tf.Tensor, initial: State) -> Tape:
    """An empty tape that holds the initial cell."""

    def array(size: tf.Tensor) -> tf.TensorArray:
        return tf.TensorArray(
            initial.cell.dtype, size, clear_after_read=False, element_shape=initial.cell.shape
        )

    cells = array(num_steps + 1).write(0, initial.cell)
    return Tape([array(num_steps) for _ in range(4)], array(num_steps), cells, array(num_steps))


def scan_forward(projected: tf.Tensor, recurrent: tf.Tensor, initial: State) -> Tape:
    """Runs the recurrence over input projections, `[time, directions, 4 * units, batch]`."""
    num_steps = tf.shape(projected)[0]
    transposed = swap(recurrent)  # once, not at every step

    def step(time: tf.Tensor, state: State, tape: Tape) -> tuple[object, ...]:
        raw = transposed @ state.hidden + projected[time]
        enter, forget, candidate, leave = tf.split(raw, 4, axis=1)
        gates = [tf.sigmoid(enter), tf.sigmoid(forget), tf.tanh(candidate), tf.sigmoid(leave)]
        cell = gates[1] * state.cell + gates[0] * gates[2]
        squashed = tf.tanh(cell)
        hidden = gates[3] * squashed
        tape = Tape(
            [array.write(time, gate) for array, gate in zip(tape.gates, gates)],
            tape.squashed.write(time, squashed),
            tape.cells.write(time + 1, cell),
            tape.hidden.write(time, hidden),
        )
        return time + 1, State(hidden, cell), tape

    start = (0, initial, new_tape(num_steps, initial))
    tape: Tape = tf.while_loop(lambda time, *_: time < num_steps, step, start)[2]
    return tape


def gate_gradients(tape: Tape, time: tf.Tensor, upstream: State) -> tuple[tf.Tensor, tf.Tensor]:
    """The gradients of the raw gates and of the cell one step earlier."""
    enter, forget, candidate, leave = (array.read(time) for array in tape.gates)
    squashed = tape.squashed.read(time)
    # Of the derivatives TensorFlow has fused kernels: y * (1 - y) * dy and (1 - y * y) * dy.
    sigmoid, tanh = tf.raw_ops.SigmoidGrad, tf.raw_ops.TanhGrad
    cell = upstream.cell + tanh(y=squashed, dy=upstream.hidden * leave)
    raw = (
        sigmoid(y=enter, dy=cell * candidate),
        sigmoid(y=forget, dy=cell * tape.cells.read(time)),
        tanh(y=candidate, dy=cell * enter),
        sigmoid(y=leave, dy=upstream.hidden * squashed),
    )
    return tf.concat(raw, axis=1), cell * forget


class Ends(NamedTuple):
    """Where each sequence ends: at the last step, or where `marks` is one."""

    marks: tf.Tensor | None  # [time, 1, 1, batch]

    def pick(self, values: tf.TensorArray, last: int | tf.Tensor) -> tf.Tensor:
        """Each sequence's value at its last step; element `last` is that of the last step."""
        if self.marks is None:
            return values.read(last)
        num_steps = tf.shape(self.marks)[0]
        stacked = values.gather(tf.range(last + 1 - num_steps, last + 1))
        return tf.reduce_sum(stacked * self.marks, axis=0)

    def start(self, gradient: State) -> State:
        """What the backward loop begins with, from the gradient of last states."""
        return gradient if self.marks is None else State(*map(tf.zeros_like, gradient))

    def enter(self, passed: State, gradient: State, time: tf.Tensor) -> State:
        """Adds the last states' gradient for sequences that end at this step."""
        if self.marks is None:
            return passed
        return State(*(p + self.marks[time] * g for p, g in zip(passed, gradient)))


def find_ends(lengths: tf.Tensor | None, like: tf.Tensor) -> Ends:
    """Marks the last steps of sequences, `like` being `[time, ...]`."""
    if lengths is None:
        return Ends(None)
    marks = tf.one_hot(lengths - 1, tf.shape(like)[0], axis=0, dtype=like.dtype)
    return Ends(marks[:, tf.newaxis, tf.newaxis])


def scan_backward(
    tape: Tape, recurrent: tf.Tensor, outer: tf.Tensor, last: State, ends: Ends
) -> tuple[tf.Tensor, State]:
    """Runs the recurrence backwards; gives the raw gates' gradients and the initial state's.

    `outer` is the gradient of all hidden states, `last` that of the last ones.
    """
    num_steps = tf.shape(outer)[0]

    def step(left: tf.Tensor, passed: State, array: tf.TensorArray) -> tuple[object, ...]:
        time = left - 1
        upstream = ends.enter(passed, last, time)
        upstream = State(upstream.hidden + outer[time], upstream.cell)
        raw, cell = gate_gradients(tape, time, upstream)
        return time, State(recurrent @ raw, cell), array.write(time, raw)

    array = tf.TensorArray(recurrent.dtype, num_steps)
    start = (num_steps, ends.start(last), array)
    _, passed, array = tf.while_loop(lambda left, *_: left > 0, step, start)
    return array.stack(), passed


def flatten(values: tf.Tensor) -> tf.Tensor:
    """All steps of all sequences side by side: `[directions, depth, time * batch]`."""
    turned = tf.transpose(values, [1, 2, 0, 3])
    return tf.reshape(turned, [*values.shape[1:3], -1])


def unflatten(flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """The opposite of `flatten`; time and batch are those of `like`."""
    num_steps, batch_size = tf.shape(like)[0], tf.shape(like)[3]
    steps = tf.reshape(flat, [*flat.shape[:2], num_steps, batch_size])
    return tf.transpose(steps, [2, 0, 1, 3])


def weight_gradients(read: tf.Tensor, gates: tf.Tensor, depths: list[int]) -> list[LayerWeights]:
    """Sums the outer products of all time steps in one matmul per direction; both are flat."""
    gradients = []
    for inputs, raw in zip(tf.unstack(read), tf.unstack(gates)):
        both = tf.matmul(inputs, raw, transpose_b=True)
        gradients.append(LayerWeights(*tf.split(both, depths), tf.reduce_sum(raw, axis=1)))
    return gradients


class Scanned(NamedTuple):
    """All hidden states of a recurrence, and the last state of each sequence."""

    hidden: tf.Tensor  # [time, directions, units, batch]
    last: State  # [directions, units, batch]


def project(flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Multiplies all time steps by the kernels of all directions; flat in, flat out."""
    # Another axis keeps TensorFlow from folding the transpose into the matmul, half as fast then.
    projected = swap(kernel)[tf.newaxis] @ flat
    return projected[0] + bias[..., tf.newaxis]


def scan(sequence: tf.Tensor, layer: Layer, initial: State, lengths: tf.Tensor | None) -> Scanned:
    """Runs one layer with a gradient of its own; sequence and state have a directions axis."""
    ends = find_ends(lengths, sequence)

    @tf.custom_gradient
    def run(
        sequence: tf.Tensor, hidden: tf.Tensor, cell: tf.Tensor, *flat: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, ...], Backward]:
        directions = tf.nest.pack_sequence_as(layer, flat)
        kernel, recurrent, bias = (tf.stack(parts) for parts in zip(*directions))
        flat = flatten(sequence)
        projected = unflatten(project(flat, kernel, bias), sequence)
        tape = scan_forward(projected, recurrent, State(hidden, cell))
        states, num_steps = tape.hidden.stack(), tf.shape(sequence)[0]

        def backward(d_states: tf.Tensor, *d_last: tf.Tensor) -> tuple[Any, ...]:
            raw, passed = scan_backward(tape, recurrent, d_states, State(*d_last), ends)
            gates = flatten(raw)
            before = flatten(tf.concat([hidden[tf.newaxis], states[:-1]], axis=0))
            depths = [flat.shape[1], before.shape[1]]
            gradients = weight_gradients(tf.concat([flat, before], axis=1), gates, depths)
            d_sequence = unflatten(kernel @ gates, sequence)
            return (d_sequence, *passed, *tf.nest.flatten(gradients))

        last = ends.pick(tape.hidden, num_steps - 1), ends.pick(tape.cells, num_steps)
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


run_layers = layer_by_layer(run_layer)


def run_stack(
    inputs: StackInputs, layers: Sequence[Layer], dropout: Dropout = NO_DROPOUT
) -> StackOutputs:
    """Runs the layers; only the top one's padding is cleared, since no layer reads the others'."""

    def drop(values: tf.Tensor, site: int) -> tf.Tensor:
        """Drops what it drops elsewhere, where batches come before features."""
        return swap(dropout(swap(values), site)) if dropout.rate else values

    turned = StackInputs(swap(inputs.sequence), inputs.lengths, list(map(turn, inputs.initial)))
    outputs = run_layers(turned, layers, drop)
    sequence = silence(swap(outputs.sequence), inputs.lengths)
    return StackOutputs(sequence, list(map(turn, outputs.final)))


def turn(state: State) -> State:
    """A state with its axes swapped."""
    return State(*map(tf.transpose, state))
