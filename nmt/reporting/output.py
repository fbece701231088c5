"""Standard output and error that a run outlives: a pipe that closes must not cost a checkpoint."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from typing import Any, Final

STDOUT: Final = 1
STDERR: Final = 2


class Outlived(io.FileIO):
    """A file descriptor whose first failure is said once; what comes after it goes nowhere."""

    def write(self, data: Any) -> Any:
        """Writes some bytes, or drops them; gives how many."""
        try:
            while (written := super().write(data)) is None:  # a pipe that is full, but not for long
                select.select([], [self], [])
            return written
        except OSError as error:
            self.give_up(error)
            return len(data)

    def give_up(self, error: OSError) -> None:
        """Lets everything go nowhere from now on."""
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())
        if self.fileno() == STDOUT:
            with contextlib.suppress(OSError):
                print(
                    f"train.py: standard output cannot be written: {error.strerror}; what "
                    "follows is not shown",
                    file=sys.stderr,
                    flush=True,
                )


def outlive() -> None:
    """Replaces both streams of a program that has just begun."""
    sys.stdout = rebuilt(sys.stdout, STDOUT)
    sys.stderr = rebuilt(sys.stderr, STDERR)


def rebuilt(stream: Any, number: int) -> Any:
    """The same text stream over an `Outlived` descriptor; none where there is none."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(Outlived(number, "w", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",  # whatever the locale, showing text cannot fail
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
