"""Why a file or directory that a flag names cannot be used, found before there is work to lose."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

PATTERN: Final = "*?[\\"


def unusable_name(path: str) -> str:
    """Why TensorFlow would not find again what it has written there."""
    if found := [sign for sign in PATTERN if sign in path]:
        return f"has {' and '.join(found)} in its name, which TensorFlow takes for a pattern"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return ""


def unwritable(path: str) -> str:
    """Why a directory is not there and cannot be made, or written to; no path is no directory."""
    if not path:
        return ""
    if why := unusable_name(path):
        return why
    wanted = Path(os.path.abspath(path))
    nearest = next(place for place in (wanted, *wanted.parents) if is_there(place))
    if not nearest.is_dir():
        return f"cannot be made: {nearest} is a file"
    return "" if os.access(nearest, os.W_OK | os.X_OK) else "cannot be written to"


def is_there(place: Path) -> bool:
    """Whether there is something, if only a link that leads nowhere."""
    try:
        place.lstat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise
    return True


def writable_file(name: str, path: str) -> str | None:
    """A file that a flag names can be written; no name is no file."""
    wanted = Path(path)
    if not path:
        return None
    if wanted.is_dir():
        return f"--{name}={wanted} is a directory; name a file in it"
    if not wanted.parent.is_dir():
        return f"--{name}={wanted} is in a directory that does not exist; make it first"
    if not os.access(wanted if wanted.exists() else wanted.parent, os.W_OK):
        return f"--{name}={wanted} cannot be written to; name another file"
    return None
