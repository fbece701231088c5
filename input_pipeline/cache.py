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
from typing import Any, TypeVar

from nmt.errors import UserError

Thing = TypeVar("Thing")

Build = Callable[[Path], object]
"""Writes what is to be kept to the path it is given."""


class Damaged(Exception):
    """What is there is not what was built."""


def directory(cache_dir: str) -> Path:
    """--cache_dir, or where this user's programs keep what they can build again."""
    if cache_dir:
        return Path(cache_dir)
    base = os.environ.get("XDG_CACHE_HOME") or home("--cache_dir") / ".cache"
    return Path(base) / "many-device-nmt"


def home(flag: str) -> Path:
    """The user's home directory; who has none names a directory."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise UserError(f"there is no home directory; name a directory with {flag}") from error


def key(**facts: Any) -> str:
    """A short name for facts; another fact, another name."""
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def kept(path: Path, build: Build, load: Callable[[Path], Thing], flag: str) -> Thing:
    """Loads what is kept in a file or directory; builds it where it is not there, or not whole.

    Two runs that want the same thing build it once: the second waits for the first. What a run
    leaves behind when it is killed while building is never used and goes away with the next.
    """
    with using(path.parent, flag):
        if path.exists():
            with contextlib.suppress(Damaged):
                return load(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(path.name + ".lock")):
            try:
                return load(path) if path.exists() else built(path, build, load)
            except Damaged as damage:
                print(f"{path} is damaged ({damage}) and is made anew", flush=True)
                remove(path)
                return built(path, build, load)


def built(path: Path, build: Build, load: Callable[[Path], Thing]) -> Thing:
    """Builds in a place beside, and puts it where it belongs when it is whole."""
    part = path.with_name(path.name + ".part")
    remove(part)
    try:
        build(part)
        part.rename(path)
    finally:
        remove(part)
    try:
        return load(path)
    except Damaged as damage:
        raise UserError(
            f"{path} was written but cannot be read back ({damage}); use another disk"
        ) from damage


def remove(path: Path) -> None:
    """Takes a file or a directory away, if there is one."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def using(place: Path, flag: str) -> Iterator[None]:
    """Says what to do where a directory cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{place} cannot be used: {error.strerror}; make room, change its permissions or name "
            f"another directory with {flag}"
        ) from error


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keeps other processes out until done; the lock goes with the process that holds it."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another run that builds {path.with_suffix('')}", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
