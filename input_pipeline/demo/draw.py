"""Random choices that are the same on every platform and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Choices from `random.Random.random` alone, whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        """Starts the sequence of `seed`."""
        self.random = random.Random(seed).random

    def one(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely."""
        return items[int(self.random() * len(items))]

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random() < probability
