"""Ctrl-C that lets the step at hand finish, so that every step made is also counted."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class Interrupt:
    """Whether the user has asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Notes the first request; a second one stops at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextlib.contextmanager
def ctrl_c_noted() -> Iterator[Interrupt]:
    """Notes Ctrl-C instead of raising it; what it did before comes back afterwards."""
    interrupt = Interrupt()
    before = signal.signal(signal.SIGINT, interrupt.handle)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
