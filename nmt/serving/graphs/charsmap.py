"""SentencePiece's table of characters to be written otherwise, read out of a model.

It is a trie over UTF-8 bytes in two arrays folded into one ("double array"), then the strings that
its leaves point into. Every unit of the trie is 32 bits:

    bit 31     it is a leaf; the rest is its value
    bit 8      one of its children is a leaf
    bits 0-7   the byte that leads to it
    bits 10-30 where its children are, in steps of 256 where bit 9 is set
"""

from __future__ import annotations

import numpy as np

LEAF, HAS_LEAF, WIDE = 1 << 31, 1 << 8, 1 << 9


def offsets(units: np.ndarray) -> np.ndarray:
    """Where the children of units are, relative to them."""
    wide = ((units & WIDE) >> 6).astype(np.uint32)
    return (units >> 10) << wide


def read(data: bytes) -> dict[str, str]:
    """All sequences of characters and what each is written as."""
    if not data:
        return {}
    size = int.from_bytes(data[:4], "little")
    units = np.frombuffer(data[4 : 4 + size], "<u4")
    strings = data[4 + size :]
    found: dict[str, str] = {}
    nodes = [(0, b"")]
    while nodes:
        node, key = nodes.pop()
        base = node ^ int(offsets(units[node : node + 1])[0])
        if units[node] & HAS_LEAF:
            begin = int(units[base] & (LEAF - 1))
            found[key.decode()] = strings[begin : strings.index(b"\0", begin)].decode()
        places = base ^ np.arange(1, 256)
        places = places[places < len(units)]
        labels = units[places] & (LEAF | 0xFF)
        for place in places[labels == (places ^ base)]:
            nodes.append((int(place), key + bytes([int(place) ^ base])))
    return found
