"""The loops of `scan`: one step of all sequences after the other, and back.

Everything is `[time, directions, matrix]` (`columns`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from nmt.network.lstm import columns
from nmt.network.lstm.layers import State


class Tape(NamedTuple):
    """What the forward loop leaves for the backward loop: one element per time step.

    Elements are `[directions, matrix]` and are read back where they lie, without a copy.
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


class Recurrence(NamedTuple):
    """What a layer multiplies its hidden states by."""

    weights: tf.Tensor  # [directions, units, 4 * units]
    from_zero: bool = False  # initial states are zeros: there is nothing to multiply or to pass on


def run_forward(projected: tf.Tensor, recurrence: Recurrence, initial: State) -> Tape:
    """Runs over input projections of all four gates."""
    weights, from_zero = recurrence
    num_steps = tf.shape(projected)[0]
    transposed = columns.turn(weights)  # once, not in every step

    def step(time: tf.Tensor, state: State, tape: Tape) -> tuple[Any, ...]:
        return advance(time, transposed @ state.hidden + projected[time], state, tape)

    def advance(time: tf.Tensor, raw: tf.Tensor, state: State, tape: Tape) -> tuple[Any, ...]:
        enter, forget, candidate, leave = columns.split(raw)
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

    start: tuple[Any, ...] = (tf.constant(0), initial, new_tape(num_steps, initial))
    if from_zero:
        start = advance(start[0], projected[0], *start[1:])
    tape: Tape = tf.while_loop(lambda time, *_: time < num_steps, step, start)[2]
    return tape


def gate_gradients(
    tape: Tape, time: tf.Tensor, upstream: State
) -> tuple[tuple[tf.Tensor, ...], tf.Tensor]:
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
    return raw, cell * forget


class Ends(NamedTuple):
    """Where each sequence ends: at the last step, or where `marks` is one."""

    marks: tf.Tensor | None  # [time, 1, matrix] with a single feature

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
    return Ends(tf.expand_dims(marks[:, tf.newaxis], columns.FEATURES))


class Upstream(NamedTuple):
    """Gradients that a recurrence gets."""

    hidden: tf.Tensor  # of all hidden states
    last: State  # of the last states
    ends: Ends  # where these are


def run_backward(tape: Tape, recurrence: Recurrence, upstream: Upstream) -> tuple[tf.Tensor, State]:
    """Runs backwards; gives the raw gates' gradients and the initial state's, if that matters."""
    weights, from_zero = recurrence
    outer, last, ends = upstream
    num_steps = tf.shape(outer)[0]

    def step(left: tf.Tensor, passed: State, array: tf.TensorArray) -> tuple[Any, ...]:
        raw, cell = gradients(left - 1, passed)
        return left - 1, State(weights @ raw, cell), array.write(left - 1, raw)

    def gradients(time: tf.Tensor, passed: State) -> tuple[tf.Tensor, tf.Tensor]:
        hidden, cell = ends.enter(passed, last, time)
        gates, before = gate_gradients(tape, time, State(hidden + outer[time], cell))
        return tf.concat(gates, axis=columns.FEATURES), before

    array = tf.TensorArray(weights.dtype, num_steps)
    start = (num_steps, ends.start(last), array)
    stop = int(from_zero)
    _, passed, array = tf.while_loop(lambda left, *_: left > stop, step, start)
    if from_zero:
        array = array.write(0, gradients(tf.constant(0), passed)[0])
        passed = State(*map(tf.zeros_like, passed))
    return array.stack(), passed
