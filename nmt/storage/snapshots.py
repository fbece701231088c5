"""Checkpoints as directories: named after their step, whole or not there, with checksums."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from nmt import files
from nmt.errors import UserError

PREFIX: Final = "step-"
MANIFEST: Final = "manifest.json"
BEST: Final = "best"
DAMAGED: Final = ".damaged"
PART: Final = ".part"
CHUNK_BYTES: Final = 1 << 20
LOST: Final = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EIO)
"""Errors that mean damage; others, such as a missing permission, may pass."""

Fill = Callable[[Path], None]
"""Writes a checkpoint's files into the directory it is given."""


def step_of(path: Path) -> int | None:
    """The step a directory is named after; None where it is no checkpoint's name."""
    number = path.name.removeprefix(PREFIX)
    return int(number) if number != path.name and number.isascii() and number.isdigit() else None


def newest_first(root: Path) -> list[Path]:
    """All checkpoints of a run, damaged ones too."""
    found = [path for path in root.glob(f"{PREFIX}*") if step_of(path) is not None]
    return sorted(found, key=lambda path: -(step_of(path) or 0))


def write(root: Path, step: int, fill: Fill) -> Path:
    """Makes a checkpoint beside its place and moves it there once it is on the disk."""
    path = root / f"{PREFIX}{step}"
    part = root / f"{PREFIX}{step}{PART}"
    clear(root)
    try:
        part.mkdir(parents=True)
        fill(part)
        sums = {file.name: checksum(file) for file in sorted(part.iterdir())}
        (part / MANIFEST).write_text(json.dumps(sums, indent=1), encoding="utf-8")
        for file in (*part.iterdir(), part):
            files.to_disk(file)
        set_aside(path)
        part.rename(path)
        with contextlib.suppress(OSError):  # it is there, if perhaps not after a loss of power
            files.to_disk(root)
    finally:
        remove(part)
    return path


def checksum(path: Path) -> str:
    """Differs where a file's content does."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(CHUNK_BYTES):
            found.update(part)
    return found.hexdigest()


def damage(path: Path) -> str | None:
    """What is wrong with a checkpoint, or None."""
    try:
        sums = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        for name, wanted in sums.items():
            if checksum(path / Path(name).name) != wanted:
                return f"{name} is not what was written"
    except OSError as error:
        if error.errno not in LOST:
            raise UserError(
                f"{error.filename or path} cannot be read: {error.strerror}; put that right first"
            ) from error
        return f"{Path(error.filename or path).name}: {error.strerror}"
    except (ValueError, AttributeError):
        return f"{MANIFEST} cannot be read"
    return None


def set_aside(path: Path) -> None:
    """Gives a directory another name, so that nothing is overwritten."""
    if not path.exists():
        return
    names = (f"{path.name}{DAMAGED}{f'-{n}' if n > 1 else ''}" for n in itertools.count(1))
    path.rename(next(aside for name in names if not (aside := path.with_name(name)).exists()))


def mark_best(root: Path, path: Path) -> None:
    """Lets `best` lead to a checkpoint; at every moment it leads to one."""
    link = root / f".{BEST}"
    link.unlink(missing_ok=True)
    link.symlink_to(path.name, target_is_directory=True)
    if not (root / BEST).is_symlink():  # a copy that has followed the link
        set_aside(root / BEST)
    os.replace(link, root / BEST)


def best(root: Path) -> Path | None:
    """The checkpoint that was judged best."""
    link = root / BEST
    return root / os.readlink(link) if link.is_symlink() and link.exists() else None


def prune(root: Path, num_keep: int, spared: Sequence[Path | None] = ()) -> None:
    """Removes the oldest checkpoints beyond a number; never the one `best` leads to."""
    for path in newest_first(root)[num_keep:]:
        if path not in (*spared, best(root)):
            remove(path)
    clear(root)


def clear(root: Path) -> None:
    """Removes what killed runs have left half written: the next checkpoint may need its room."""
    for part in root.glob(f"{PREFIX}*{PART}"):
        with contextlib.suppress(OSError):
            remove(part)


def remove(path: Path) -> None:
    """Takes a directory away, if it is there; under another name first, for it takes a while."""
    if path.exists():
        gone = path.with_name(f"{path.name.removesuffix(PART)}{PART}")
        if gone != path:
            path.rename(gone)
        shutil.rmtree(gone)
