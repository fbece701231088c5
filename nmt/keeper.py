"""What a run does beside training: it looks at the dev set, saves, and shows how it goes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from nmt.errors import MemoryShort
from nmt.interrupt import Interrupt
from nmt.judging.dev import DevSet, Look, name_of
from nmt.judging.history import Score
from nmt.measuring.throughput import Meter, Window
from nmt.occasions import Due
from nmt.reporting import curve
from nmt.reporting.summaries import Summaries
from nmt.saver import Saver, warned
from nmt.schedules import learning_rate
from nmt.search.beam import long_enough
from nmt.search.translation import BATCH_SIZE
from nmt.setup import Setup
from nmt.storage.lock import Lock


class Keeper:
    """Looks and saves at the times the flags say; batches are counted from where it began."""

    def __init__(
        self,
        setup: Setup,
        meter: Meter,
        clock: Callable[[], float] = time.monotonic,
        lock: Lock | None = None,
    ) -> None:
        self.setup, self.meter, self.history = setup, meter, setup.history
        self.run = setup.config.run
        self.first_step = int(setup.trainer.step)
        self.looked_after = 0  # batches of this run before the last look
        self.dev = make_dev_set(setup) if self.run.eval_every else None
        self.saver = Saver(setup, clock, lock) if self.run.output_dir else None
        self.summaries = Summaries(self.saver.directory) if self.saver else None

    def rate(self) -> float:
        """The learning rate of the last step."""
        return float(learning_rate(self.setup.config.optimizer, self.setup.trainer.step - 1))

    def due(self, number: int) -> Due:
        """What is to be done after so many batches."""
        save = self.saver is not None and self.saver.is_due(number)
        return Due(save, self.look_is_due(number))

    def look_is_due(self, number: int) -> bool:
        """After so many steps, and at the end."""
        if not self.dev:
            return False
        step = self.first_step + number
        return step % self.run.eval_every == 0 or number == self.setup.schedule.num_batches

    def note(self, number: int, window: Window) -> None:
        """Shows a window's averages in TensorBoard; what was saved before it has proved good."""
        if self.saver:
            self.saver.note(number, window.steps)
        if self.summaries:
            self.summaries.progress(self.first_step + number, window, self.rate())

    def catch_up(self, interrupt: Interrupt) -> bool:
        """Does what the run before was kept from: a look that was due, the link to the best.

        False where training has nothing left to gain.
        """
        looked = self.first_step in (score.step for score in self.history.scores)
        due = bool(self.first_step) and not looked and (self.look_is_due(0) or self.was_best())
        going = self.work(0, Due(save=False, look=due), interrupt)
        if self.saver:
            with warned():
                self.saver.mark_best()
        return going

    def was_best(self) -> bool:
        """Whether this run goes on from what `best` leads to, which only a look can have found."""
        resumed = self.setup.resumed
        return self.saver is not None and resumed is not None and self.saver.linked() == resumed

    def work(self, number: int, due: Due, interrupt: Interrupt) -> bool:
        """Does what is due; False where training has nothing left to gain."""
        found = self.look(self.dev, interrupt) if self.dev and due.look else None
        if found is not None:
            self.take(number, found)
        if self.saver:
            with warned():
                self.saver.keep(number, due=due.save)
        return not self.history.has_stalled(self.run.patience)

    def look(self, dev: DevSet, interrupt: Interrupt) -> Look | None:
        """Looks at the dev set, unless the user wants to stop or memory is too short for it."""
        try:
            return interrupt.unless(dev.look, None)
        except (MemoryShort, tf.errors.ResourceExhaustedError):
            print(
                f"train.py: not enough memory to evaluate {BATCH_SIZE} sentences of the dev set at "
                "once; training goes on without",
                file=sys.stderr,
                flush=True,
            )
            return None

    def take(self, number: int, found: Look) -> None:
        """Notes and shows what a look has found."""
        score = self.score(number, found)
        if score.signature not in (before.signature for before in self.history.scores):
            print(f"BLEU is {score.signature}, chrF {score.chrf_signature}", flush=True)
        better = self.history.add(score)
        print(describe(score) + ("  (best)" if better else ""), flush=True)
        if self.summaries and self.saver:
            self.summaries.look(score, found.evaluation)
            with warned():
                curve.draw(self.history, self.saver.directory / curve.NAME)

    def score(self, number: int, found: Look) -> Score:
        """A look in numbers, with the loss of training since the one before."""
        losses = [loss for loss in self.meter.losses[self.looked_after :] if np.isfinite(loss)]
        self.looked_after = number
        judged = found.evaluation
        return Score(
            self.first_step + number,
            float(np.mean(losses)) if losses else float("nan"),
            found.loss,
            found.perplexity,
            judged.bleu,
            judged.chrf,
            judged.signature,
            judged.chrf_signature,
            name_of(judged.pairs),
        )

    def finish(self, number: int) -> None:
        """Saves the last step, unless all there was to learn from was no number."""
        if not self.saver:
            return
        updates = number * self.setup.trainer.strategy.updates_per_step
        if updates and self.meter.num_skipped == updates:
            print(f"all {number} steps were skipped: nothing new is saved", flush=True)
        else:
            self.saver.save(number)
        with warned():
            self.saver.mark_best()

    def close(self) -> None:
        """Writes what is left."""
        if self.summaries:
            self.summaries.close()


def make_dev_set(setup: Setup) -> DevSet:
    """What the run's dev split is judged with."""
    data, vocabularies = setup.data, setup.data.vocabularies
    assert vocabularies is not None, "find_problems refuses --eval_every without text"
    search = long_enough(setup.config.data.tgt_max_len)
    return DevSet(setup.trainer, vocabularies, data.dev, search=search, tokenized=data.tokenized)


def describe(score: Score) -> str:
    """One line of progress."""
    return (
        f"dev at step {score.step:,}: loss {score.loss:.3f}  perplexity {score.perplexity:.2f}  "
        f"BLEU {score.bleu:.2f}  chrF {score.chrf:.2f}"
    )
