"""One run at a time in a directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nmt.errors import UserError

NAME: Final = "lock"


def note_owner(path: Path) -> None:
    """Says who holds the lock; on a full disk nobody does."""
    with contextlib.suppress(OSError):
        path.write_text(f"{os.getpid()}\n", encoding="utf-8")


@contextlib.contextmanager
def held(directory: Path) -> Iterator[None]:
    """Keeps other runs out; the lock goes with the process that holds it, however that ends."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = (directory / NAME).open("a+", encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"--output_dir={directory} cannot be used: {error.strerror}; change its permissions "
            "or name another directory"
        ) from error
    with file:
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
        note_owner(directory / NAME)
        yield
