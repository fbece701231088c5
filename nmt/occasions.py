"""When something is done beside training."""

from __future__ import annotations

from typing import NamedTuple


class Schedule(NamedTuple):
    """How many batches there are and when something is said of them."""

    num_warmup: int
    num_batches: int  # warm-up included
    log_every: int

    def log_is_due(self, batch: int) -> bool:
        """After the first, after the warm-up, at even intervals, and at the end."""
        marks = (1, self.num_warmup, self.num_batches)
        return batch in marks or batch % self.log_every == 0


class Due(NamedTuple):
    """What is to be done after a step."""

    save: bool
    look: bool
