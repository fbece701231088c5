"""Batches brought to their devices while the step before is computed."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import tensorflow as tf

from nmt.types import Batch

STEPS_AHEAD = 2
LOOK_EVERY_S = 0.1

Step = tuple[Batch, ...]
Item = TypeVar("Item")


class Delivery(NamedTuple):
    """Where batches go."""

    devices: Sequence[str]
    prefetch: bool  # made and copied to the device while the step before is computed

    def __call__(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Passes on one slice per device and step."""
        if not self.prefetch:
            return steps
        return read_ahead((to_devices(step, self.devices) for step in steps), STEPS_AHEAD)


def to_devices(step: Step, devices: Sequence[str]) -> Step:
    """Copies each slice to its device."""
    placed = []
    for batch, device in zip(step, devices):
        with tf.device(device):
            placed.append(Batch(*(tf.identity(values) for values in batch)))
    return tuple(placed)


class Failed(NamedTuple):
    """What went wrong in the thread."""

    error: BaseException


class Ended:
    """Nothing comes after it."""


def read_ahead(items: Iterator[Item], depth: int) -> Iterator[Item]:
    """Draws items in a thread of its own; an error reaches the reader where its item would have.

    Asking TensorFlow for a step's tensors takes a millisecond or more; a step that finds them
    drawn takes a tenth of that.
    """
    found: queue.Queue[Item | Failed | type[Ended]] = queue.Queue(depth)
    stopped = threading.Event()
    thread = threading.Thread(target=draw, args=(items, found, stopped), daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        thread.join()

    # A thread that is inside TensorFlow when the interpreter goes away takes the process with it.
    atexit.register(stop)
    try:
        while (item := found.get()) is not Ended:
            if isinstance(item, Failed):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        atexit.unregister(stop)
        stop()


def draw(items: Iterator[Item], found: queue.Queue[object], stopped: threading.Event) -> None:
    """Fills the queue until there is nothing more, or nobody reads."""

    def put(item: object) -> None:
        while not stopped.is_set():
            try:
                return found.put(item, timeout=LOOK_EVERY_S)
            except queue.Full:
                pass

    try:
        while not stopped.is_set():
            put(next(items))
    except StopIteration:
        put(Ended)
    except BaseException as error:  # raised again by the reader
        put(Failed(error))
