"""Gradients of all replicas in, their sum on every device out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import tensorflow as tf

from nmt.types import Gradient
from variable_update import spec as specs
from variable_update.all_reduce import ALGORITHMS, TRAFFIC
from variable_update.packing import UNPACKED, Pack, Packing, make_packs, put_together, take_apart
from variable_update.rows import Embedding, exchange_rows
from variable_update.rows import exchange_bytes as bytes_of_rows
from variable_update.spec import Spec

# Logical devices of one host share its memory: what is summed in one place is there for all.
ON_HOST = "pscpu"
ON_GPUS = "nccl"


NO_ROWS: Final[Mapping[int, Embedding]] = {}


def size_of(gradient: tf.Tensor) -> int:
    """Bytes of a dense gradient."""
    return int(gradient.shape.num_elements() * gradient.dtype.size)


def cast_on(device: str, value: tf.Tensor) -> tf.Tensor:
    """Full precision again, where the sum is used."""
    with tf.device(device):
        return tf.cast(value, tf.float32)


def narrowed(value: tf.Tensor, algorithm: str, num_devices: int) -> tf.Tensor:
    """In 16 bits: bfloat16, which has room for any sum, or what NCCL takes of these, float16.

    That ends at 65504: what could become larger when it is added up is cut off, but what is no
    number stays none.
    """
    if algorithm != ON_GPUS:
        return tf.cast(value, tf.bfloat16)
    limit = tf.float16.max / num_devices
    within = tf.clip_by_value(value, -limit, limit)
    return tf.cast(tf.where(tf.math.is_finite(value), within, value), tf.float16)


def make_exchange(
    text: str, packing: Packing = UNPACKED, *, gpu: bool, compact: bool = False
) -> Exchange:
    """What the user asked for, but the host's way in place of NCCL's where there is no GPU."""
    wanted = specs.parse(text or ON_GPUS)
    if gpu or ON_GPUS not in specs.algorithms(wanted):
        return Exchange(wanted, packing, compact)
    (host,) = specs.parse(ON_HOST)
    instead = tuple(
        entry._replace(way=host.way) if entry.way.algorithm == ON_GPUS else entry
        for entry in wanted
    )
    return Exchange(instead, packing, compact, note=f" ({ON_GPUS} needs GPUs)" if text else "")


@dataclass(frozen=True)
class Exchange:
    """Which way gradients travel, and what travels together."""

    spec: Spec
    packing: Packing = UNPACKED
    compact: bool = False  # 16 bits a number on the way, `narrowed`
    note: str = ""  # why the plan shows another spec than the flag

    def __call__(
        self,
        per_device: Sequence[Sequence[Gradient]],
        devices: Sequence[str],
        rows: Mapping[int, Embedding] = NO_ROWS,
    ) -> list[list[tf.Tensor]]:
        """Sums matching gradients over devices and gives every device the result."""
        if len(devices) == 1:
            return [list(per_device[0])]
        sums: list[dict[int, tf.Tensor]] = [{} for _ in devices]
        wire = tf.bfloat16 if self.compact else tf.float32
        for number, embedding in rows.items():
            parts = [gradients[number] for gradients in per_device]
            for mine, total in zip(sums, exchange_rows(parts, devices, embedding, wire)):
                mine[number] = total
        sizes = [0 if n in rows else size_of(g) for n, g in enumerate(per_device[0])]
        for pack in self.packs(sizes, rows):
            reduced = self.reduce(per_device, devices, pack)
            for mine, total, device in zip(sums, reduced, devices):
                with tf.device(device):
                    mine.update(take_apart(total, per_device[0], pack))
        return [[mine[number] for number in range(len(sizes))] for mine in sums]

    def packs(self, sizes: Sequence[int], rows: Mapping[int, Embedding]) -> list[Pack]:
        """What travels together of the gradients that are dense."""
        order = self.packing.order or tuple(reversed(range(len(sizes))))
        dense = tuple(number for number in order if number not in rows)
        sizes = [0 if number in rows else size for number, size in enumerate(sizes)]
        return make_packs(sizes, self.packing._replace(order=dense)) if dense else []

    def reduce(
        self, per_device: Sequence[Sequence[tf.Tensor]], devices: Sequence[str], pack: Pack
    ) -> list[tf.Tensor]:
        """Sums one pack."""
        elements = sum(per_device[0][number].shape.num_elements() for number in pack)
        algorithm, num_parts = specs.way_for(self.spec, elements * self.wire_size)
        packed = []
        for gradients, device in zip(per_device, devices):
            with tf.device(device):
                flat = put_together(gradients, pack)
                packed.append(narrowed(flat, algorithm, len(devices)) if self.compact else flat)
        sums = ALGORITHMS[algorithm](packed, devices, min(num_parts, max(1, elements)))
        return [cast_on(device, total) for device, total in zip(devices, sums)]

    @property
    def wire_size(self) -> int:
        """Bytes of a number that travels."""
        return 2 if self.compact else 4

    def num_bytes(
        self,
        sizes: Sequence[int],
        devices: Sequence[str],
        rows: Mapping[int, Embedding] = NO_ROWS,
    ) -> int:
        """What travels between devices in one step, for gradients of the given sizes in bytes.

        Rows are counted as the most there can be.
        """
        tables = rows.values()
        total = float(sum(bytes_of_rows(table, devices, self.wire_size) for table in tables))
        sizes = [0 if number in rows else size for number, size in enumerate(sizes)]
        for pack in self.packs(sizes, rows):
            size = sum(sizes[number] for number in pack) * self.wire_size // 4
            total += size * TRAFFIC[specs.way_for(self.spec, size).algorithm](devices)
        return int(total)

    def describe(self, sizes: Sequence[int] = (), rows: Mapping[int, Embedding] = NO_ROWS) -> str:
        """One phrase for the plan; the sizes are those of all gradients in bytes."""
        text = f"all-reduce {specs.describe(self.spec)}{self.note}"
        text += " in 16 bits" if self.compact else ""
        if self.packing.num_packs:
            return f"{text}, gradients in {len(self.packs(sizes, rows))} packs"
        if self.packing.small_bytes:
            small, group = self.packing.small_bytes, self.packing.small_group
            return f"{text}, gradients up to {small:,} bytes in packs of {group}"
        return text
