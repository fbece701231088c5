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

from nmt.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    Layer,
    StackInputs,
    StackOutputs,
    State,
    layer_by_layer,
    reverse,
)

Backward = Callable[..., tuple[Any, ...]]


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
    # Of the derivatives TensorFlow has fused kernels: y * (1 - y) * dy and (1 - y * y) * dy.
    sigmoid, tanh = tf.raw_ops.SigmoidGrad, tf.raw_ops.TanhGrad
    cell = upstream.cell + tanh(y=squashed, dy=upstream.hidden * leave)
    raw = (
        sigmoid(y=enter, dy=cell * candidate),
        sigmoid(y=forget, dy=cell * tape.cells.read(time)),
        tanh(y=candidate, dy=cell * enter),
        sigmoid(y=leave, dy=upstream.hidden * squashed),
    )
    return tf.concat(raw, axis=-1), cell * forget


class CellGradient(NamedTuple):
    """The gradient of each sequence's last cell, which enters where the sequence ends."""

    gradient: tf.Tensor  # [directions, batch, units]
    lengths: tf.Tensor | None

    def start(self) -> tf.Tensor:
        """What the backward loop begins with."""
        return self.gradient if self.lengths is None else tf.zeros_like(self.gradient)

    def enter(self, passed: tf.Tensor, left: tf.Tensor) -> tf.Tensor:
        """Adds the gradient for sequences of exactly `left` steps."""
        if self.lengths is None:
            return passed
        ends = tf.cast(tf.equal(self.lengths, left), passed.dtype)
        return passed + ends[tf.newaxis, :, tf.newaxis] * self.gradient


def scan_backward(
    tape: Tape, recurrent: tf.Tensor, outer: tf.Tensor, last: CellGradient
) -> tuple[tf.Tensor, State]:
    """Runs the recurrence backwards; gives the raw gates' gradients and the initial state's.

    `outer` is the gradient of all hidden states, `[time, directions, batch, units]`.
    """
    num_steps = tf.shape(outer)[0]

    def step(left: tf.Tensor, passed: State, array: tf.TensorArray) -> tuple[object, ...]:
        time = left - 1
        upstream = State(passed.hidden + outer[time], last.enter(passed.cell, left))
        raw, cell = gate_gradients(tape, time, upstream)
        hidden = tf.matmul(raw, recurrent, transpose_b=True)
        return time, State(hidden, cell), array.write(time, raw)

    start = State(tf.zeros_like(last.gradient), last.start())
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


def last_places(values: tf.Tensor, lengths: tf.Tensor | None) -> tf.Tensor:
    """Where each sequence's last step is in `[time, directions, batch, units]`, as row numbers."""
    num_steps, batch_size, ways = tf.shape(values)[0], tf.shape(values)[2], values.shape[1]
    steps = num_steps if lengths is None else lengths
    return ((steps - 1) * ways + tf.range(ways)[:, tf.newaxis]) * batch_size + tf.range(batch_size)


def rows(values: tf.Tensor) -> tf.Tensor:
    """All states of `[time, directions, batch, units]` under each other."""
    return tf.reshape(values, [-1, values.shape[-1]])


class Scanned(NamedTuple):
    """All hidden states of a recurrence, and the last state of each sequence."""

    hidden: tf.Tensor  # [time, directions, batch, units]
    last: State  # [directions, batch, units]


def scan(
    projected: Sequence[tf.Tensor],
    recurrent: tf.Tensor,
    initial: State,
    lengths: tf.Tensor | None,
) -> Scanned:
    """Runs the recurrence with a gradient of its own."""

    @tf.custom_gradient
    def run(
        recurrent: tf.Tensor, hidden: tf.Tensor, cell: tf.Tensor, *projected: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, ...], Backward]:
        tape = scan_forward(projected, recurrent, State(hidden, cell))
        states = tape.hidden.stack()
        places = last_places(states, lengths)

        def backward(d_states: tf.Tensor, d_last: tf.Tensor, d_cell: tf.Tensor) -> tuple[Any, ...]:
            outer = tf.tensor_scatter_nd_add(rows(d_states), places[..., tf.newaxis], d_last)
            outer = tf.reshape(outer, tf.shape(d_states))
            raw, passed = scan_backward(tape, recurrent, outer, CellGradient(d_cell, lengths))
            gradient = recurrent_gradient(raw, states, hidden)
            return (gradient, *passed, *tf.unstack(raw, len(projected), axis=1))

        cells = rows(tape.cells.stack()[1:])
        return (states, tf.gather(rows(states), places), tf.gather(cells, places)), backward

    hidden, *last = run(recurrent, initial.hidden, initial.cell, *projected)
    return Scanned(hidden, State(*last))


def project(sequence: tf.Tensor, layer: Layer, direction: int) -> tf.Tensor:
    """Multiplies all time steps by a direction's kernel at once, `[time, batch, 4 * units]`."""
    weights = layer[direction]
    flat = tf.reshape(sequence, [-1, weights.kernel.shape[0]])
    projected = tf.nn.bias_add(flat @ weights.kernel, weights.bias)
    return tf.reshape(projected, [*tf.unstack(tf.shape(sequence)[:2]), weights.kernel.shape[1]])


def run_layer(inputs: StackInputs, layer: Layer) -> StackOutputs:
    """Runs a layer in one or both directions; the outputs of both stand side by side."""
    lengths = inputs.lengths
    views = [inputs.sequence, reverse(inputs.sequence, lengths)][: len(layer)]
    hidden, last = scan(
        [project(view, layer, direction) for direction, view in enumerate(views)],
        tf.stack([weights.recurrent for weights in layer]),
        State(*(tf.stack(parts) for parts in zip(*inputs.initial))),
        lengths,
    )
    outputs = tf.unstack(hidden, len(layer), axis=1)
    if len(layer) == 2:
        outputs[1] = reverse(outputs[1], lengths)
    states = [State(*state) for state in zip(*map(tf.unstack, last))]
    return StackOutputs(tf.concat(outputs, axis=2), states)


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
    outputs = run_layers(inputs, layers, dropout)
    return outputs._replace(sequence=silence(outputs.sequence, inputs.lengths))
