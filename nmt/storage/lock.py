"""One run at a time in a directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

from nmt.errors import UserError

NAME: Final = "lock"


def note_owner(path: Path) -> None:
    """Says who holds the lock; on a full disk nobody does."""
    with contextlib.suppress(OSError):
        path.write_text(f"{os.getpid()}\n", encoding="utf-8")


class Lock:
    """Keeps other runs out; it goes with the process that holds it, however that ends."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = self.take()

    def take(self) -> TextIO:
        """Takes the lock of the directory that has this name now."""
        directory = self.directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            file = (directory / NAME).open("a+", encoding="utf-8")
        except OSError as error:
            raise UserError(
                f"--output_dir={directory} cannot be used: {error.strerror}; name another directory"
            ) from error
        try:
            lock_file(file, directory)
        except UserError:
            file.close()
            raise
        note_owner(directory / NAME)
        return file

    def renew(self) -> None:
        """Takes it anew where the directory was moved away, unless another run is there now."""
        if not self.is_held():
            before, self.file = self.file, self.take()
            before.close()

    def is_held(self) -> bool:
        """Whether the lock is still that of the directory with this name."""
        try:
            there = os.stat(self.directory / NAME)
            return os.path.samestat(os.fstat(self.file.fileno()), there)
        except OSError:
            return False


def lock_file(file: TextIO, directory: Path) -> None:
    """Locks an open file, or says who has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        raise UserError(
            f"--output_dir={directory} is in use by process {file.read().strip()}; wait for "
            "it or name another directory"
        ) from error
    except OSError as error:
        raise UserError(
            f"--output_dir={directory} cannot be locked: {error.strerror}; name a directory on "
            "another file system"
        ) from error


@contextlib.contextmanager
def held(directory: Path) -> Iterator[Lock]:
    """Keeps other runs out while this one is at work."""
    lock = Lock(directory)
    try:
        yield lock
    finally:
        lock.file.close()
