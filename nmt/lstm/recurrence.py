"""The loops of `scan`: one step of all sequences after the other, and back.

Everything is features-major, `[time, directions, features, batch]`.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from nmt.lstm.layers import State


class Tape(NamedTuple):
    """What the forward loop leaves for the backward loop: one element per time step.

    Elements are `[directions, units, batch]` and are read back where they lie, without a copy.
    """

    gates: list[tf.TensorArray]  # enter, forget, candidate, leave, after their activations
    squashed: tf.TensorArray  # tanh of the new cell
    cells: tf.TensorArray  # element t is the cell before step t
    hidden: tf.TensorArray  # likewise


def new_tape(num_steps: tf.Tensor, initial: State) -> Tape:
    """An empty tape that holds the initial state."""

    def array(size: tf.Tensor) -> tf.TensorArray:
        return tf.TensorArray(
            initial.cell.dtype, size, clear_after_read=False, element_shape=initial.cell.shape
        )

    hidden, cells = (array(num_steps + 1).write(0, value) for value in initial)
    return Tape([array(num_steps) for _ in range(4)], array(num_steps), cells, hidden)


def run_forward(projected: tf.Tensor, recurrent: tf.Tensor, initial: State) -> Tape:
    """Runs the recurrence over input projections, `[time, directions, 4 * units, batch]`."""
    num_steps = tf.shape(projected)[0]
    transposed = tf.linalg.matrix_transpose(recurrent)  # once, not at every step

    def step(time: tf.Tensor, state: State, tape: Tape) -> tuple[object, ...]:
        raw = transposed @ state.hidden + projected[time]
        enter, forget, candidate, leave = split_gates(raw)
        gates = [tf.sigmoid(enter), tf.sigmoid(forget), tf.tanh(candidate), tf.sigmoid(leave)]
        cell = gates[1] * state.cell + gates[0] * gates[2]
        squashed = tf.tanh(cell)
        hidden = gates[3] * squashed
        tape = Tape(
            [array.write(time, gate) for array, gate in zip(tape.gates, gates)],
            tape.squashed.write(time, squashed),
            tape.cells.write(time + 1, cell),
            tape.hidden.write(time + 1, hidden),
        )
        return time + 1, State(hidden, cell), tape

    start = (0, initial, new_tape(num_steps, initial))
    tape: Tape = tf.while_loop(lambda time, *_: time < num_steps, step, start)[2]
    return tape


def split_gates(raw: tf.Tensor) -> list[tf.Tensor]:
    """The gates of all directions; of a single one they are parts of the same memory."""
    if raw.shape[0] > 1:
        return tf.split(raw, 4, axis=1)
    return [gate[tf.newaxis] for gate in tf.split(raw[0], 4)]


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


def run_backward(
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
