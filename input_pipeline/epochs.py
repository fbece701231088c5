"""Which pairs make which batch: an order that follows from the seed and the lengths alone."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

# Pairs are shuffled, then sorted within pools of so many batches: enough to put like with like,
# few enough that a batch is made of other pairs in every epoch.
POOL_BATCHES = 32
# Within a pool targets may differ by so many words while sources rise or fall.
SLAB_WORDS = 3


class BatchLimit(NamedTuple):
    """When a batch of all replicas is full."""

    amount: int
    in_words: bool  # real words of both sides; else sentences


class Epoch(NamedTuple):
    """One pass over all pairs."""

    rows: np.ndarray  # [pairs] int32, every pair once
    bounds: np.ndarray  # [batches, 2] int64, the part of `rows` that is a batch


def bucket_boundaries(lengths: np.ndarray, num_buckets: int) -> list[int]:
    """Lengths at which a new bucket starts, so that buckets hold equally many sentences."""
    cuts = np.quantile(lengths, np.arange(1, num_buckets) / num_buckets, method="nearest")
    return [int(cut) + 1 for cut in np.unique(cuts) if cut < lengths.max()]


def shuffled(count: int, random: np.random.Philox) -> np.ndarray:
    """0 .. count - 1 in random order; raw bits are the same in every version of NumPy."""
    order: np.ndarray = np.argsort(random.random_raw(count), kind="stable")
    return order


def fill(weights: np.ndarray, amount: int) -> np.ndarray:
    """Numbers containers that hold `amount` each, filled in order: [1, 1, 1], 2 -> [0, 0, 1]."""
    # By where a weight ends, not where it begins: so the last one's number follows from the
    # total, and every epoch has equally many.
    numbers: np.ndarray = (np.cumsum(weights, dtype=np.int64) - 1) // amount
    return numbers


class Epochs:
    """All epochs of a corpus; each has the same number of batches."""

    def __init__(
        self, source: np.ndarray, target: np.ndarray, limit: BatchLimit, num_buckets: int, seed: int
    ) -> None:
        self.source, self.target = source, target
        self.limit, self.seed = limit, seed
        longer = np.maximum(source, target)
        numbers = np.digitize(longer, bucket_boundaries(longer, num_buckets))
        found = (np.flatnonzero(numbers == n) for n in range(int(numbers.max()) + 1))
        self.buckets = [rows.astype(np.int32) for rows in found]
        self.latest: tuple[int, Epoch] | None = None

    def weights(self, rows: np.ndarray) -> np.ndarray:
        """How much of a batch each row takes."""
        return self.source[rows] + self.target[rows] if self.limit.in_words else np.ones_like(rows)

    @cached_property
    def num_batches(self) -> int:
        """Batches of one epoch, the partial one of every bucket included."""
        amounts = (int(self.weights(rows).sum(dtype=np.int64)) for rows in self.buckets)
        return sum(-(-amount // self.limit.amount) for amount in amounts)

    def epoch(self, number: int) -> Epoch:
        """The epoch with a number; the latest one is kept."""
        if self.latest is None or self.latest[0] != number:
            self.latest = None  # there is room for one
            self.latest = number, self._compute(number)
        return self.latest[1]

    def _compute(self, number: int) -> Epoch:
        random = np.random.Philox(key=np.array([self.seed, number], np.uint64))
        rows: list[np.ndarray] = []
        cuts = [0]
        for bucket in self.buckets:
            ordered = self._sorted_in_pools(bucket[shuffled(len(bucket), random)])
            batches = fill(self.weights(ordered), self.limit.amount)
            ends = [*(np.flatnonzero(np.diff(batches)) + 1), len(ordered)]
            begin = cuts[-1]
            cuts += [begin + int(end) for end in ends]
            rows.append(ordered)
        bounds = np.stack([cuts[:-1], cuts[1:]], axis=1).astype(np.int64)
        return Epoch(np.concatenate(rows), bounds[shuffled(len(bounds), random)])

    def _sorted_in_pools(self, rows: np.ndarray) -> np.ndarray:
        """Pool by pool, pairs of like lengths side by side.

        Targets rise slab by slab; sources rise in one slab and fall in the next, so that there is
        no jump where slabs meet.
        """
        pools = fill(self.weights(rows), POOL_BATCHES * self.limit.amount).astype(np.int32)
        source, slabs = self.source[rows], self.target[rows] // SLAB_WORDS
        winding = np.where(slabs % 2, source, -source)
        sorted_rows: np.ndarray = rows[np.lexsort((winding, slabs, pools))]
        return sorted_rows

    def padding_share(self, num_replicas: int) -> float:
        """Share of places in the first epoch's batches that hold no word."""
        rows, bounds = self.epoch(0)
        begins, counts = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        by_begin = np.argsort(begins)
        counts = counts[by_begin]
        filled = -(-counts // num_replicas) * num_replicas
        widths = sum(
            np.maximum.reduceat(side[rows], begins[by_begin]).astype(np.int64)
            for side in (self.source, self.target)
        )
        words = int(self.source.sum(dtype=np.int64) + self.target.sum(dtype=np.int64))
        return 1 - words / int((filled * widths).sum())
