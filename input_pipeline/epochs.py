"""Which pairs make which batch: an order that follows from the seed and the lengths alone."""

from __future__ import annotations

import threading
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

    rows: np.ndarray  # [pairs] int64, every pair once
    bounds: np.ndarray  # [batches, 2] int64, the part of `rows` that is a batch


def bucket_boundaries(lengths: np.ndarray, num_buckets: int) -> list[int]:
    """Lengths at which a new bucket starts, so that buckets hold equally many sentences."""
    cuts = np.quantile(lengths, np.arange(1, num_buckets) / num_buckets, method="nearest")
    return [int(cut) + 1 for cut in np.unique(cuts) if cut < lengths.max()]


def shuffled(count: int, random: np.random.Philox) -> np.ndarray:
    """0 .. count - 1 in random order; raw bits are the same in every version of NumPy."""
    order: np.ndarray = np.argsort(random.random_raw(count), kind="stable")
    return order


def fill(weights: np.ndarray, groups: np.ndarray, amount: int) -> np.ndarray:
    """Numbers containers that hold `amount`, filled in order, anew for each group of a sorted row.

    weights [1, 1, 1, 1, 1], groups [0, 0, 0, 1, 1], amount 2 -> [0, 0, 1, 0, 0]
    """
    after = np.cumsum(weights, dtype=np.int64)
    first = np.searchsorted(groups, groups)  # where each one's group begins
    # By where a weight ends, not where it begins: so the last one's number follows from the
    # total, and every epoch has equally many.
    numbers: np.ndarray = (after - after[first] + weights[first] - 1) // amount
    return numbers


class Epochs:
    """All epochs of a corpus; each has the same number of batches."""

    def __init__(
        self, source: np.ndarray, target: np.ndarray, limit: BatchLimit, num_buckets: int, seed: int
    ) -> None:
        self.source, self.target = source, target
        self.limit, self.seed = limit, seed
        longer = np.maximum(source, target)
        self.buckets = np.digitize(longer, bucket_boundaries(longer, num_buckets)).astype(np.int16)
        self.weights = source + target if limit.in_words else np.ones_like(source)
        self.lock = threading.Lock()
        self.latest: tuple[int, Epoch] | None = None

    @property
    def num_buckets(self) -> int:
        """Buckets there are; few different lengths make few."""
        return int(self.buckets.max()) + 1

    @cached_property
    def num_batches(self) -> int:
        """Batches of one epoch, the partial one of every bucket included."""
        amounts = np.bincount(self.buckets, self.weights)
        return int(np.ceil(amounts / self.limit.amount).sum())

    def epoch(self, number: int) -> Epoch:
        """The epoch with a number; every replica's pipeline asks for it, one computes it."""
        with self.lock:
            if self.latest is None or self.latest[0] != number:
                self.latest = number, self._compute(number)
            return self.latest[1]

    def _compute(self, number: int) -> Epoch:
        random = np.random.Philox(key=np.array([self.seed, number], np.uint64))
        rows = self._sorted_in_pools(shuffled(len(self.source), random))
        buckets = self.buckets[rows]
        batches = fill(self.weights[rows], buckets, self.limit.amount)
        changes = (np.diff(batches) != 0) | (np.diff(buckets) != 0)
        cuts = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(rows)]])
        bounds = np.stack([cuts[:-1], cuts[1:]], axis=1)
        return Epoch(rows, bounds[shuffled(len(bounds), random)])

    def _sorted_in_pools(self, rows: np.ndarray) -> np.ndarray:
        """Bucket by bucket, pool by pool, pairs of like lengths side by side.

        Targets rise slab by slab; sources rise in one slab and fall in the next, so that there is
        no jump where slabs meet.
        """
        rows = rows[np.argsort(self.buckets[rows], kind="stable")]
        buckets, source, target = self.buckets[rows], self.source[rows], self.target[rows]
        pools = fill(self.weights[rows], buckets, POOL_BATCHES * self.limit.amount)
        slabs = target // SLAB_WORDS
        winding = np.where(slabs % 2, source, -source)
        sorted_rows: np.ndarray = rows[np.lexsort((winding, slabs, pools, buckets))]
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
