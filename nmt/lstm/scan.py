"""The fast CPU path of `cudnn_lstm`: as little as possible inside the loop over time.

The input projection of all time steps is one matmul before the loop, the weight gradients are one
matmul after the backward loop, and both directions of a layer share one batched matmul per step.
The forward loop does not look at lengths: last states are picked out afterwards, and padding after
a sequence's end receives no gradient because nothing real depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from nmt.lstm.layers import Layer, StackInputs, StackOutputs, State, layer_by_layer, reverse


class Tape(NamedTuple):
    """What the forward loop leaves for the backward loop: one element per time step.

    Elements are `[directions, batch, units]` and are read back where they lie, without a copy.
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


def scan_forward(projected: Sequence[tf.Tensor], recurrent: tf.Tensor, initial: State) -> Tape:
    """Runs the recurrence over `[time, batch, 4 * units]` input projections, one per direction."""
    num_steps = tf.shape(projected[0])[0]
    # oneDNN multiplies [batch, units] by the transposed layout 1.4 times as fast.
    transposed = tf.linalg.matrix_transpose(recurrent)

    def step(time: tf.Tensor, state: State, tape: Tape) -> tuple[object, ...]:
        raw = tf.matmul(state.hidden, transposed, transpose_b=True)
        raw += tf.stack([p[time] for p in projected])  # [directions, batch, 4 * units]
        enter, forget, candidate, leave = tf.split(raw, 4, axis=-1)
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
    cell = upstream.cell + upstream.hidden * leave * (1 - squashed * squashed)
    raw = (
        cell * candidate * enter * (1 - enter),
        cell * tape.cells.read(time) * forget * (1 - forget),
        cell * enter * (1 - candidate * candidate),
        upstream.hidden * squashed * leave * (1 - leave),
    )
    return tf.concat(raw, axis=-1), cell * forget


class Outer(NamedTuple):
    """The gradients that reach the recurrence from outside."""

    hidden: tf.Tensor  # [time, directions, batch, units]
    last: State  # [directions, batch, units] each


def scan_backward(
    tape: Tape, recurrent: tf.Tensor, lengths: tf.Tensor, outer: Outer
) -> tuple[tf.Tensor, State]:
    """Runs the recurrence backwards; gives the raw gates' gradients and the initial state's."""
    num_steps = tf.shape(outer.hidden)[0]

    def step(left: tf.Tensor, passed: State, array: tf.TensorArray) -> tuple[object, ...]:
        time = left - 1
        ends = tf.cast(tf.equal(lengths, left), recurrent.dtype)[tf.newaxis, :, tf.newaxis]
        upstream = State(
            passed.hidden + outer.hidden[time] + ends * outer.last.hidden,
            passed.cell + ends * outer.last.cell,
        )
        raw, cell = gate_gradients(tape, time, upstream)
        hidden = tf.matmul(raw, recurrent, transpose_b=True)
        return time, State(hidden, cell), array.write(time, raw)

    start = State(*(tf.zeros_like(value) for value in outer.last))
    array = tf.TensorArray(recurrent.dtype, num_steps)
    _, passed, array = tf.while_loop(lambda left, *_: left > 0, step, (num_steps, start, array))
    return array.stack(), passed


def recurrent_gradient(raw: tf.Tensor, hidden: tf.Tensor, initial: tf.Tensor) -> tf.Tensor:
    """Sums the outer products of all time steps in one matmul per direction."""
    before = tf.concat([initial[tf.newaxis], hidden[:-1]], axis=0)
    units = before.shape[-1]
    gradients = []
    for direction in range(before.shape[1]):
        left = tf.reshape(before[:, direction], [-1, units])
        right = tf.reshape(raw[:, direction], [-1, 4 * units])
        gradients.append(tf.matmul(left, right, transpose_a=True))
    return tf.stack(gradients)


def last_cells(tape: Tape, lengths: tf.Tensor) -> tf.Tensor:
    """The cell after each sequence's last real step, `[directions, batch, units]`."""
    return pick(tape.cells.stack()[1:], lengths)


def pick(values: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Takes element `lengths - 1` in time of `[time, directions, batch, units]`."""
    places = tf.stack([lengths - 1, tf.range(tf.size(lengths))], axis=1)  # [batch, 2]
    by_batch = tf.transpose(tf.gather_nd(tf.transpose(values, [0, 2, 1, 3]), places), [1, 0, 2])
    return by_batch


Backward = Callable[..., tuple[Any, ...]]


@tf.custom_gradient
def scan(
    lengths: tf.Tensor,
    recurrent: tf.Tensor,
    hidden: tf.Tensor,
    cell: tf.Tensor,
    *projected: tf.Tensor,
) -> tuple[tuple[tf.Tensor, tf.Tensor, tf.Tensor], Backward]:
    """All hidden states of the recurrence, and the last hidden state and cell of each sequence."""
    tape = scan_forward(projected, recurrent, State(hidden, cell))
    all_hidden = tape.hidden.stack()

    def backward(d_hidden: tf.Tensor, d_last: tf.Tensor, d_cell: tf.Tensor) -> tuple[Any, ...]:
        outer = Outer(d_hidden, State(d_last, d_cell))
        raw, passed = scan_backward(tape, recurrent, lengths, outer)
        gradient = recurrent_gradient(raw, all_hidden, hidden)
        by_direction = tf.unstack(raw, len(projected), axis=1)
        return (None, gradient, passed.hidden, passed.cell, *by_direction)

    return (all_hidden, pick(all_hidden, lengths), last_cells(tape, lengths)), backward


def project(sequence: tf.Tensor, layer: Layer, direction: int) -> tf.Tensor:
    """Multiplies all time steps by a direction's kernel at once, `[time, batch, 4 * units]`."""
    weights = layer[direction]
    flat = tf.reshape(sequence, [-1, weights.kernel.shape[0]])
    projected = tf.nn.bias_add(flat @ weights.kernel, weights.bias)
    return tf.reshape(projected, [*tf.unstack(tf.shape(sequence)[:2]), weights.kernel.shape[1]])


def run_layer(inputs: StackInputs, layer: Layer) -> StackOutputs:
    """Runs a layer in one or both directions; the outputs of both stand side by side."""
    time_and_batch = tf.shape(inputs.sequence)[:2]
    lengths = inputs.lengths
    ends = tf.fill(time_and_batch[1:], time_and_batch[0]) if lengths is None else lengths
    views = [inputs.sequence, reverse(inputs.sequence, lengths)][: len(layer)]
    hidden, last, cell = scan(
        ends,
        tf.stack([weights.recurrent for weights in layer]),
        tf.stack([state.hidden for state in inputs.initial]),
        tf.stack([state.cell for state in inputs.initial]),
        *(project(view, layer, direction) for direction, view in enumerate(views)),
    )
    outputs = tf.unstack(hidden, len(layer), axis=1)
    if len(layer) == 2:
        outputs[1] = reverse(outputs[1], lengths)
    sequence = silence(tf.concat(outputs, axis=2), lengths)
    return StackOutputs(sequence, [State(h, c) for h, c in zip(tf.unstack(last), tf.unstack(cell))])


def silence(sequence: tf.Tensor, lengths: tf.Tensor | None) -> tf.Tensor:
    """Puts zeros after each sequence's end."""
    if lengths is None:
        return sequence
    alive = tf.sequence_mask(lengths, tf.shape(sequence)[0], sequence.dtype)  # [batch, time]
    return sequence * tf.transpose(alive)[:, :, tf.newaxis]


run_stack = layer_by_layer(run_layer)
