"""Parallel text in files, plain or gzipped: one sentence a line, pairs matched by line number."""

from __future__ import annotations

import glob
import gzip
import itertools
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from input_pipeline.corpus import Block, blocks_of
from nmt.errors import UserError

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = "\ufeff"


def names_in(text: str) -> list[str]:
    """The names or globs of a flag, which are separated by commas."""
    if os.path.exists(text):  # a name may have a comma in it
        return [text]
    return [name.strip() for name in text.split(",") if name.strip()]


def matches(name: str) -> list[Path]:
    """The files that a name or a glob means, in order."""
    if os.path.exists(name):
        return [Path(name)]
    return [Path(found) for found in sorted(glob.glob(name, recursive=True))]


def expand(text: str) -> list[Path]:
    """All files of a flag."""
    return [path for name in names_in(text) for path in matches(name)]


def open_lines(path: Path) -> IO[bytes]:
    """Opens a file that is plain or gzipped, whatever its name."""
    with path.open("rb") as file:
        zipped = path.suffix == ".gz" or file.read(2) == GZIP_MAGIC
    return cast(IO[bytes], gzip.open(path)) if zipped else path.open("rb")


def read_blocks(path: Path) -> Iterator[list[str]]:
    """All lines of a file, without their ends, in blocks."""
    first_line = 1
    try:
        with open_lines(path) as file:
            for lines in blocks_of(file):
                yield decode(path, first_line, lines)
                first_line += len(lines)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(
            f"{path} is damaged after line {first_line - 1:,}: {error}; copy it anew"
        ) from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; name another file") from error
    if first_line == 1:
        raise UserError(f"{path} is empty; name a file with one sentence a line")


def decode(path: Path, first_line: int, lines: Sequence[bytes]) -> list[str]:
    """Text of some lines; a mark of byte order and Windows' line ends are taken off."""
    joined = b"".join(lines)
    try:
        text = joined.decode()
    except UnicodeDecodeError as error:
        number = first_line + joined.count(b"\n", 0, error.start)
        raise UserError(
            f"{path} is not UTF-8 at line {number:,}: {error.reason}; convert it, "
            "for instance with iconv"
        ) from error
    if "\0" in text:
        number = first_line + text.count("\n", 0, text.index("\0"))
        raise UserError(
            f"{path} has a NUL byte in line {number:,}; it is damaged or not UTF-8 text: convert it"
        )
    if first_line == 1:
        text = text.removeprefix(BYTE_ORDER_MARK)
    return [line.strip() for line in text.removesuffix("\n").split("\n")]


def read_file_pair(source: Path, target: Path) -> Iterator[Block]:
    """Lines of two files side by side; they must be equally many."""
    counts = [0, 0]
    nothing: list[str] = []
    sides = read_blocks(source), read_blocks(target)
    for blocks in itertools.zip_longest(*sides, fillvalue=nothing):
        counts = [count + len(block) for count, block in zip(counts, blocks)]
        if len(blocks[0]) == len(blocks[1]):
            yield Block(*blocks)
    if counts[0] != counts[1]:
        raise UserError(
            f"{source} has {counts[0]:,} lines, {target} has {counts[1]:,}; pairs are matched by "
            "line number: give two files of equal length"
        )


def read_pairs(sources: Sequence[Path], targets: Sequence[Path]) -> Iterator[Block]:
    """All pairs of several files; the first source belongs to the first target, and so on."""
    for source, target in zip(sources, targets):
        yield from read_file_pair(source, target)


def identity(paths: Sequence[Path]) -> tuple[str, ...]:
    """Names, sizes and times of files: what changes when somebody writes to one."""
    facts = []
    for path in paths:
        status = path.stat()
        facts.append(f"{path.resolve()} {status.st_size} {status.st_mtime_ns}")
    return tuple(facts)
