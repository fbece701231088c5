"""Things built once and kept: files that are either whole or not there, whoever builds them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nmt.errors import UserError

Build = Callable[[Path], object]
"""Writes what is to be kept to the path it is given."""


def directory(cache_dir: str) -> Path:
    """--cache_dir, or where this user's programs keep what they can build again."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_dir or Path(base) / "many-device-nmt")


def key(**facts: Any) -> str:
    """A short name for facts; another fact, another name."""
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def kept(path: Path, build: Build, told: Callable[[str], None] = print) -> Path:
    """Makes sure that a file or directory is there, whole; builds it where it is not.

    Two runs that want the same thing build it once: the second waits for the first. What a run
    leaves behind when it is killed while building is never used and goes away with the next.
    """
    if path.exists():
        return path
    with writing_to(path.parent), locked(path.with_name(path.name + ".lock"), told):
        if not path.exists():
            part = path.with_name(path.name + ".part")
            remove(part)
            try:
                build(part)
                part.rename(path)
            finally:
                remove(part)
    return path


def remove(path: Path) -> None:
    """Takes a file or a directory away, if there is one."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def writing_to(place: Path) -> Iterator[None]:
    """Says what to do where nothing can be written."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UserError(
            f"{place} cannot be written to: {error.strerror}; make room or name another directory "
            "with --cache_dir"
        ) from error


@contextlib.contextmanager
def locked(path: Path, told: Callable[[str], None]) -> Iterator[None]:
    """Keeps other processes out until done; the lock goes with the process that holds it."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told(f"waiting for another run that builds {path.with_suffix('')}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
