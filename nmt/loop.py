"""The training loop."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from nmt.interrupt import Interrupt
from nmt.keeper import Keeper
from nmt.occasions import Schedule
from nmt.reporting.reporter import Reporter
from nmt.trainer import Trainer
from nmt.types import Batch


class Ending(enum.Enum):
    """Why training ended."""

    FINISHED = "all batches were trained on"
    STALLED = "no look at the dev set found anything better"
    BROKEN_OFF = "the user wanted it"


def train_loop(
    trainer: Trainer,
    batches: Iterable[tuple[Batch, ...]],
    schedule: Schedule,
    out: Reporter,
    keeper: Keeper,
    interrupt: Interrupt,
) -> Ending:
    """Trains on every batch."""
    for number, batch in zip(range(1, schedule.num_batches + 1), batches):
        out.count(trainer.train_step(batch))
        due = keeper.due(number)
        if not (schedule.log_is_due(number) or any(due) or interrupt.requested):
            continue
        keeper.note(number, out.report(number))  # reads the losses: a sync point
        if not keeper.work(number, due, interrupt):
            return Ending.STALLED
        if interrupt.requested:
            return Ending.BROKEN_OFF
        out.go_on()
    return Ending.FINISHED
