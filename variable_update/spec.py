"""--all_reduce_spec: which way gradients of which size take.

xring             all of them around a ring
psgpu#4           all of them, each in 4 parts
pscpu:32k:xring   up to 32 KiB over the host, larger ones around the ring
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

# The table of algorithms has the same names; a test compares them. TensorFlow is not imported here.
NAMES: Final = ("nccl", "xring", "rechd", "pscpu", "psgpu", "hierarchical_copy")
UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20}
WAY = re.compile(r"([a-z_]+)(?:#(\d+))?")
LIMIT = re.compile(r"(\d+)([km]?)")
MOST_PARTS: Final = 64
FEWEST_DEVICES: Final = {"xring": 2, "rechd": 2, "hierarchical_copy": 3}


class Way(NamedTuple):
    """An algorithm, and in how many parts a tensor takes it."""

    algorithm: str
    num_parts: int


class Range(NamedTuple):
    """Tensors up to a number of bytes take a way."""

    max_bytes: float
    way: Way


Spec = tuple[Range, ...]


class BadSpec(ValueError):
    """The text is no spec; the message says why."""


def parse(text: str) -> Spec:
    """Reads "way:limit:way:limit:...:way"."""
    pieces = text.lower().split(":")
    ways = [parse_way(piece) for piece in pieces[::2]]
    limits = [parse_limit(piece) for piece in pieces[1::2]]
    if len(pieces) % 2 == 0:
        raise BadSpec("ends with a size; name the way that larger gradients take")
    if list(limits) != sorted(set(limits)):
        raise BadSpec("has sizes that do not rise; order them from small to large")
    if 0 in limits:
        raise BadSpec("has the size 0, which no gradient has; leave it and the way before it out")
    for one, two in itertools.pairwise(ways):
        if one == two:
            raise BadSpec(f"names {one.algorithm} on both sides of a size; name it once")
    return tuple(Range(size, way) for size, way in zip([*limits, float("inf")], ways))


def parse_way(text: str) -> Way:
    """Reads "xring" or "xring#2"."""
    found = WAY.fullmatch(text)
    if not found or found[1] not in NAMES:
        raise BadSpec(f"names {text!r}; choose from: {', '.join(NAMES)}")
    num_parts = int(found[2] or 1)
    if not 1 <= num_parts <= MOST_PARTS:
        raise BadSpec(f"has {text!r}; give 1 to {MOST_PARTS} parts")
    if found[1] == "nccl" and found[2]:
        raise BadSpec(f"has {text!r}; NCCL cuts as it sees fit, leave the number out")
    return Way(found[1], num_parts)


def parse_limit(text: str) -> int:
    """Reads "4096", "32k" or "1m"."""
    found = LIMIT.fullmatch(text)
    if not found:
        raise BadSpec(f"has the size {text!r}; write it like 4096, 32k or 1m")
    return int(found[1]) * UNITS[found[2]]


def way_for(spec: Spec, num_bytes: int) -> Way:
    """The way a tensor of that size takes."""
    return next(entry.way for entry in spec if num_bytes <= entry.max_bytes)


def algorithms(spec: Spec) -> Sequence[str]:
    """All algorithms in use."""
    return [entry.way.algorithm for entry in spec]


def describe(spec: Spec) -> str:
    """The spec as text."""
    parts = []
    for max_bytes, way in spec:
        parts.append(f"{way.algorithm}#{way.num_parts}" if way.num_parts > 1 else way.algorithm)
        parts += [] if max_bytes == float("inf") else [f"{int(max_bytes)}"]
    return ":".join(parts)
