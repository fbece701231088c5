"""Gradients put together for the journey: fewer, larger tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf


class Packing(NamedTuple):
    """How gradients are put together."""

    num_packs: int = 0  # all of them in so many packs of like size; 0: not
    small_bytes: int = 0  # those up to so many bytes in groups; 0: not
    small_group: int = 10  # so many in a group at most
    order: tuple[int, ...] = ()  # in which gradients are ready; the last first if empty


UNPACKED = Packing()

Pack = tuple[int, ...]
"""Numbers of the gradients that travel together."""


def make_packs(sizes: Sequence[int], packing: Packing) -> list[Pack]:
    """Packs of gradients whose sizes in bytes are given, filled in the order of readiness.

    What the backward pass has ready first travels first, while the rest is still being computed.
    """
    order = packing.order or tuple(reversed(range(len(sizes))))
    if packing.num_packs:
        return packs_of_like_size(order, sizes, packing.num_packs)
    return packs_of_small_ones(order, sizes, packing)


def packs_of_like_size(order: Sequence[int], sizes: Sequence[int], count: int) -> list[Pack]:
    """Cuts the row of gradients where equal shares of the bytes end; gradients stay whole."""
    total, done = sum(sizes), 0
    packs: dict[int, list[int]] = {}
    for number in order:
        middle = done + sizes[number] / 2
        packs.setdefault(min(count - 1, int(count * middle / max(1, total))), []).append(number)
        done += sizes[number]
    return [tuple(pack) for pack in packs.values()]


def packs_of_small_ones(order: Sequence[int], sizes: Sequence[int], packing: Packing) -> list[Pack]:
    """Groups small ones as they become ready, whatever lies between; the others travel alone."""
    packs: list[list[int]] = []
    open_group: list[int] | None = None
    for number in order:
        small = sizes[number] <= packing.small_bytes
        if small and open_group is not None and len(open_group) < packing.small_group:
            open_group.append(number)
            continue
        packs.append([number])
        if small:
            open_group = packs[-1]
    return [tuple(pack) for pack in packs]


def put_together(gradients: Sequence[tf.Tensor], pack: Pack) -> tf.Tensor:
    """One flat tensor of a pack's gradients, on the current device."""
    flat = [tf.reshape(gradients[number], [-1]) for number in pack]
    return flat[0] if len(flat) == 1 else tf.concat(flat, 0)


def take_apart(packed: tf.Tensor, like: Sequence[tf.Tensor], pack: Pack) -> dict[int, tf.Tensor]:
    """The gradients of a pack, each in its own shape."""
    sizes = [like[number].shape.num_elements() for number in pack]
    flat = tf.split(packed, sizes) if len(pack) > 1 else [packed]
    return {n: tf.reshape(part, like[n].shape) for n, part in zip(pack, flat)}
