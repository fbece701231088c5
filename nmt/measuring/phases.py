"""Where a step's time goes: the clock is read between its phases, in a window of its own.

    start -> transfer and read -> wait -> forward -> backward -> others -> exchange -> update

Replicas work side by side and share what they run on, so their phases overlap: each replica's
seconds are shown, and the time from the first one's start to the last one's end. A replica's own
phases are kept apart here: an exchange that hides behind the backward pass elsewhere shows, and no
replica begins before all have their batch and weights, so that waiting looks like no other phase.
Together they are its step; only transfer and read are at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from nmt.machine.devices import call_attributes, read_where_it_is
from nmt.measuring.middle import middle
from nmt.trainer import Trainer
from nmt.types import BATCH_SPEC, Batch, ReplicaGradients

HOST: Final = "CPU:0"
MARKS: Final = (
    "start", "transfer", "read", "wait", "forward", "backward", "exchange", "update",
)  # fmt: skip
SINCE: Final = {
    "transfer": ("start", "transfer"),  # of the batch to the device
    "read": ("start", "read"),  # of the weights
    "wait": ("ready", "wait"),  # for the others to be ready, and for a thread
    "forward": ("wait", "forward"),
    "backward": ("forward", "backward"),
    "others": ("backward", "met"),  # waiting for slower replicas
    "exchange": ("met", "exchange"),
    "update": ("exchange", "update"),  # clipping included
}
"""Phases, and the marks at which each begins and ends. Ready is who has transferred and read, met
are those whose gradients are all there."""
SINCE_LATE: Final = {**SINCE, "others": ("backward", "backward"), "exchange": ("start", "exchange")}
"""The same where the step before's gradients are exchanged, which nothing has to be waited for."""

Times = npt.NDArray[np.float64]  # [steps, replicas, marks]


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], autograph=False)
def read_clock(arrived: tf.Tensor) -> tf.Tensor:
    """The time when these numbers are there."""
    with tf.control_dependencies([arrived]):
        return tf.timestamp()


def passed(values: Any) -> tuple[Any, tf.Tensor]:
    """The same tensors, and the time when all of them were computed, wherever they are.

    Who reads them waits for the clock to be read, so that it is not read late on a busy machine.
    """
    tensors = tf.nest.flatten(values, expand_composites=True)
    # A GPU only queues its work: a number that is on the host has really been computed.
    numbers = [where_it_is(first_number, tensor) for tensor in tensors]
    with tf.device(HOST):
        function = read_clock.get_concrete_function()
        # A clock has side effects in TensorFlow's eyes, but replicas must not wait for each other.
        (time,) = tf.raw_ops.PartitionedCall(
            args=[tf.concat(numbers, axis=0)], Tout=[tf.float64], f=function
        )
    with tf.control_dependencies([time]):
        same = [where_it_is(tf.identity, tensor) for tensor in tensors]
    packed = tf.nest.pack_sequence_as(values, same, expand_composites=True)
    return packed, tf.ensure_shape(time, [])


def where_it_is(work: Callable[[tf.Tensor], tf.Tensor], tensor: tf.Tensor) -> tf.Tensor:
    """Does something with a tensor on its own device: nothing travels for a measurement."""
    with tf.device(tensor.device):
        return work(tensor)


def first_number(tensor: tf.Tensor) -> tf.Tensor:
    """One of its numbers, or none."""
    return tf.cast(tf.reshape(tensor, [-1])[:1], tf.float32)


def phased_replica_step(trainer: Trainer) -> Callable[..., Any]:
    """The trainer's function for one replica, with the clock read in between."""

    def step(weights: list[tf.Tensor], batch: Batch, seed: tf.Tensor) -> tuple[Any, ...]:
        (weights, batch), waited = passed((weights, batch))
        marks = [waited]

        def between(loss_sum: tf.Tensor) -> AbstractContextManager[None]:
            marks.append(passed(loss_sum)[1])
            # Gradients do not depend on the loss itself, and would be computed before it.
            return tf.control_dependencies(marks)

        sums, result = trainer.replica_pass(weights, batch, seed, between)
        sums, backward = passed(sums)
        return sums, result, [*marks, backward]

    return tf.function(
        step,
        input_signature=trainer.replica_spec(),
        autograph=False,
        experimental_attributes=call_attributes(trainer.strategy.devices[0]),
    )


def hand_out(
    trainer: Trainer, replica: int, batch: Batch, start: tf.Tensor
) -> tuple[list[tf.Tensor], Batch, list[tf.Tensor]]:
    """A replica's weights and batch on its device; when the batch was there, and the weights."""
    with tf.control_dependencies([start]):
        weights, read = passed(trainer.strategy.read(replica))
    with tf.device(trainer.strategy.devices[replica]):
        batch, transfer = passed(tf.nest.map_structure(tf.identity, batch))
    return weights, batch, [transfer, read]


def when_updated(variables: Sequence[tf.Variable]) -> tf.Tensor:
    """The time when all of them have their new values."""
    return passed([read_where_it_is(variable) for variable in variables])[1]


def phased_step(trainer: Trainer) -> Callable[[Sequence[Batch]], tf.Tensor]:
    """The trainer's step from batches on the host; gives the marks of all replicas."""
    strategy, replica_step = trainer.strategy, phased_replica_step(trainer)

    def step(batches: Sequence[Batch]) -> tf.Tensor:
        batches, start = passed(batches)
        given = [hand_out(trainer, replica, batch, start) for replica, batch in enumerate(batches)]
        ready = [mark for _, _, marks in given for mark in marks]
        handed_in, begun = [], []
        for replica, (weights, batch, marks) in enumerate(given):
            with tf.device(strategy.devices[replica]), tf.control_dependencies(ready):
                seed = trainer.dropout_seed(replica)
                sums, result, passes = replica_step(weights, batch, seed)
            handed_in.append(ReplicaGradients(sums, result.num_tokens, result.loss_sum))
            begun.append([start, *marks, *passes])
        agreed, exchanged = zip(*map(passed, strategy.agree(handed_in)))
        strategy.update(agreed, trainer.step.read_value())
        trainer.finish_step()
        updated = [when_updated(copy.variables) for copy in strategy.copies]
        if trainer.averages:
            updated[0] = when_updated(trainer.averages.variables)
        # A single copy is everyone's.
        ends = list(zip(exchanged, updated)) * (len(begun) // len(exchanged))
        return tf.stack([tf.stack([*marks, *end]) for marks, end in zip(begun, ends)])

    signature = ((BATCH_SPEC,) * len(strategy.devices),)
    return tf.function(step, input_signature=signature, autograph=False)


class Phases(NamedTuple):
    """Seconds of a step, means of the steps in the middle of the window."""

    step: float
    replicas: dict[str, list[float]]  # by phase, each replica's
    total: dict[str, float]  # by phase, from the first replica's start to the last one's end


def measure(trainer: Trainer, batches: Iterable[tuple[Batch, ...]], num_steps: int) -> Phases:
    """Trains on some more batches, the first of them for tracing alone."""
    step = phased_step(trainer)
    times = []
    for _, batch in zip(range(num_steps + 1), batches):
        with tf.device(HOST):
            on_host = tf.nest.map_structure(tf.identity, batch)
        times.append(step(on_host).numpy())
    late = trainer.strategy.late is not None
    return summarize(np.stack(times[1:]), SINCE_LATE if late else SINCE)


def summarize(times: Times, since: Mapping[str, tuple[str, str]] = SINCE) -> Phases:
    """Means over the middle of a window's steps, by their length.

    Of the same steps for all phases, so that they add up, but of none that was disturbed.
    """
    lengths = times.max(axis=(1, 2)) - times[:, :, MARKS.index("start")].min(axis=1)
    times = times[middle(lengths)]
    at = {mark: times[:, :, number] for number, mark in enumerate(MARKS)}
    at["ready"] = np.maximum(at["transfer"], at["read"])
    # Replicas that share nothing wait for nobody: they go on before the last one is there.
    at["met"] = np.minimum(at["backward"].max(axis=1, keepdims=True), at["exchange"])
    replicas, total = {}, {}
    for phase, (begin, end) in since.items():
        replicas[phase] = np.mean(at[end] - at[begin], axis=0).tolist()
        total[phase] = float(np.mean(at[end].max(axis=1) - at[begin].min(axis=1)))
    return Phases(float(np.mean(lengths[middle(lengths)])), replicas, total)


def table(phases: Phases, input_wait_s: float) -> str:
    """What is printed; shares are those of the time from the first start to the last end."""
    lines = [
        "|Phase|s, mean of replicas|s, each replica|s, first start to last end|of the step|",
        "|:--|:--|:--|:--|:--|",
        f"|input wait|{input_wait_s:.4f}|||{input_wait_s / phases.step:.2f}|",
    ]
    for phase, of_replicas in phases.replicas.items():
        mean, total = np.mean(of_replicas), phases.total[phase]
        each = " ".join(f"{seconds:.4f}" for seconds in of_replicas)
        lines.append(f"|{phase}|{mean:.4f}|{each}|{total:.4f}|{total / phases.step:.2f}|")
    lines.append(f"|step|||{phases.step:.4f}|1.00|")
    return "\n".join(lines)
