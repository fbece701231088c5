"""The training loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from nmt.interrupt import ctrl_c_noted
from nmt.reporter import Reporter
from nmt.trainer import Trainer
from nmt.types import Batch


class Schedule(NamedTuple):
    """How many batches there are and when something is said of them."""

    num_warmup: int
    num_batches: int  # warm-up included
    log_every: int

    def log_is_due(self, batch: int) -> bool:
        """After the first, after the warm-up, at even intervals, and at the end."""
        marks = (1, self.num_warmup, self.num_batches)
        return batch in marks or batch % self.log_every == 0


def train_loop(
    trainer: Trainer, batches: Iterable[tuple[Batch, ...]], schedule: Schedule, out: Reporter
) -> bool:
    """Trains on every batch; False when the user broke it off."""
    with ctrl_c_noted() as interrupt:
        for number, batch in zip(range(1, schedule.num_batches + 1), batches):
            out.count(trainer.train_step(batch))
            if schedule.log_is_due(number) or interrupt.requested:
                out.report(number)  # reads the losses: a sync point
            if interrupt.requested:
                return False
    return True
