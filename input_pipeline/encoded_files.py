"""A corpus in ids kept in a directory, whose ids are mapped into memory when they are used."""

from __future__ import annotations

import contextlib
import json
import mmap
import weakref
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from input_pipeline.cache import Damaged
from input_pipeline.corpus import Block
from input_pipeline.encoded import (
    EncodedPairs,
    Side,
    Vocabularies,
    encode_block,
    id_type,
    starts_of,
)

FACTS = "facts.json"
SIDES = ("source", "target")
READ_BYTES = 1 << 24


class ArrayFile:
    """A file that arrays are added to; remembers how it must look when it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.num_bytes = self.crc32 = 0

    def add(self, array: np.ndarray) -> None:
        """Appends the array's bytes."""
        data = array.tobytes()
        self.file.write(data)
        self.num_bytes += len(data)
        self.crc32 = zlib.crc32(data, self.crc32)

    def facts(self) -> list[int]:
        """Size and check sum."""
        return [self.num_bytes, self.crc32]


def write(blocks: Iterable[Block], vocabularies: Vocabularies, directory: Path) -> None:
    """Encodes a corpus of any size, block by block."""
    directory.mkdir(parents=True)
    names = [f"{side}.{part}" for side in SIDES for part in ("ids", "lengths")]
    with contextlib.ExitStack() as stack:
        files = [ArrayFile(stack.enter_context((directory / n).open("wb"))) for n in names]
        for block in blocks:
            source, target = encode_block(block, vocabularies)
            for file, array in zip(files, (*source, *target)):
                file.add(array)
    facts = {name: file.facts() for name, file in zip(names, files)}
    (directory / FACTS).write_text(json.dumps(facts))


def check(directory: Path) -> None:
    """Raises Damaged where a file is not what was written."""
    try:
        facts = json.loads((directory / FACTS).read_text())
        for name, (num_bytes, crc32) in facts.items():
            if (directory / name).stat().st_size != num_bytes:
                raise Damaged(f"{name} is cut off")
            if file_crc32(directory / name) != crc32:
                raise Damaged(f"{name} has been changed")
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise Damaged(str(error)) from error


def file_crc32(path: Path) -> int:
    """Check sum of a whole file."""
    crc32 = 0
    with path.open("rb") as file:
        while data := file.read(READ_BYTES):
            crc32 = zlib.crc32(data, crc32)
    return crc32


def open_pairs(directory: Path, vocabularies: Vocabularies) -> EncodedPairs:
    """The corpus that was written with these vocabularies; raises Damaged."""
    check(directory)
    types = [id_type(vocabulary) for vocabulary in vocabularies]
    return EncodedPairs(*(open_side(directory, *side) for side in zip(SIDES, types)))


def open_side(directory: Path, name: str, dtype: Any) -> Side:
    """One language; lengths are read, ids are left in their file."""
    lengths = np.fromfile(directory / f"{name}.lengths", np.int32)
    return Side(MappedIds(directory / f"{name}.ids", dtype), starts_of(lengths), lengths)


class MappedIds:
    """Ids in a file, mapped into memory for each look, so that a long run holds none of them."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.file = path.open("rb")
        self.dtype = dtype
        weakref.finalize(self, self.file.close)

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """The ids at some places."""
        region = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        found: np.ndarray = np.frombuffer(region, self.dtype)[places]
        return found
