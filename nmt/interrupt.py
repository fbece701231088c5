"""Ctrl-C and SIGTERM that let the step at hand finish, so that it is counted and saved."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final, TypeAlias, TypeVar

Result = TypeVar("Result")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED: Final = 130


SafePoint: TypeAlias = Callable[[], None]
"""Called by work between two of its parts; raises where the work is to be broken off."""


class StopRequested(Exception):
    """The user wants to stop, and nothing is lost by stopping here."""


def go_on() -> None:
    """The safe point of work that nobody breaks off."""


class Interrupt:
    """Whether the user has asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Notes a request; after the first Ctrl-C a second one ends the process at once.

        It raises nothing: where a signal comes while TensorFlow traces a graph, an exception would
        leave TensorFlow in a state in which nothing can be saved any more.
        """
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        self.requested = True

    def safe_point(self) -> None:
        """Ends the work that calls this where the user has asked to stop."""
        if self.requested:
            raise StopRequested

    def unless(self, work: Callable[[SafePoint], Result], instead: Result) -> Result:
        """Does some work; if a request breaks it off at a safe point, `instead` comes of it."""
        try:
            self.safe_point()
            return work(self.safe_point)
        except StopRequested:
            return instead


@contextlib.contextmanager
def signals_noted() -> Iterator[Interrupt]:
    """Notes signals instead of dying of them; what they did before comes back afterwards."""
    interrupt = Interrupt()
    with second_ctrl_c_watched():
        before = [signal.signal(number, interrupt.handle) for number in SIGNALS]
        try:
            yield interrupt
        finally:
            for number, handler in zip(SIGNALS, before):
                signal.signal(number, handler)


@contextlib.contextmanager
def second_ctrl_c_watched() -> Iterator[None]:
    """Leaves at the second Ctrl-C even while the main thread waits for TensorFlow.

    Python calls handlers only between two of its own instructions, and a step that hangs has none;
    but it writes each signal's number to a file at once, which another thread reads.
    """
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=leave_at_second, args=(reading,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writing.close()  # which ends the thread


def leave_at_second(numbers: socket.socket) -> None:
    """Counts Ctrl-C until the other end is closed."""
    count = 0
    with numbers:
        while number := numbers.recv(1):
            count += number[0] == signal.SIGINT
            if count > 1:
                os._exit(INTERRUPTED)
