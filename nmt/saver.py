"""A run's checkpoints: when they are due and what goes into them."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import tensorflow as tf

from input_pipeline.kept_vocabularies import kept_files
from nmt.errors import Diverged, SaveFailed, UserError, reason
from nmt.judging import history
from nmt.judging.history import Score
from nmt.measuring.throughput import Step
from nmt.schedules import learning_rate
from nmt.setup import Setup
from nmt.storage import checkpoints, model_dir, snapshots
from nmt.storage.lock import Lock


class Saver:
    """Saves a run in its directory; batches are counted from where this run began."""

    def __init__(
        self,
        setup: Setup,
        clock: Callable[[], float] = time.monotonic,
        lock: Lock | None = None,
    ) -> None:
        self.setup, self.clock, self.lock = setup, clock, lock
        self.run = setup.config.run
        self.directory = Path(self.run.output_dir)
        self.vocabularies = kept_files(self.directory)  # which may be gone later
        self.first_step = int(setup.trainer.step)
        self.saved = setup.resumed  # the last one
        self.good = setup.resumed  # the last one that a step with numbers came after
        self.sound = True  # whether the latest step had numbers
        self.saved_at = clock()

    def is_due(self, number: int) -> bool:
        """Whether so many steps or minutes have passed; the end is saved anyway."""
        if number == self.setup.schedule.num_batches:
            return False
        steps, minutes = self.run.save_every_steps, self.run.save_every_minutes
        by_steps = bool(steps) and (self.first_step + number) % steps == 0
        return by_steps or (bool(minutes) and self.clock() - self.saved_at >= 60 * minutes)

    def keep(self, number: int, *, due: bool) -> None:
        """Saves where it is due, or where nothing better is saved; `best` leads to the best.

        What a step had no numbers with is not kept in place of what is good.
        """
        if self.sound and (due or self.would_be_best(number)):
            self.save(number)
            self.mark_best()

    def has(self, number: int) -> bool:
        """Whether the step after so many batches is in a checkpoint."""
        step = self.first_step + number
        return self.saved is not None and snapshots.step_of(self.saved) == step

    def save(self, number: int) -> Path:
        """Makes sure there is a checkpoint of this step, then removes the oldest ones."""
        if self.saved and self.has(number):
            return self.saved
        try:
            self.saved = self.write(number)
        except (OSError, tf.errors.OpError, checkpoints.NoNumbers, UserError) as error:
            good = f"the last good one is {self.saved}" if self.saved else "there is none yet"
            raise SaveFailed(
                f"step {self.first_step + number} was not saved in {self.directory}: "
                f"{reason(error)}; {good}"
            ) from error
        finally:
            self.saved_at = self.clock()
        print(f"saved {self.saved}", flush=True)
        with warned():
            self.prune()
        return self.saved

    def prune(self) -> None:
        """Removes the oldest checkpoints, but for the best, and the last that proved good."""
        snapshots.prune(self.directory, self.run.num_keep_ckpts, [self.best(), self.good])

    def note(self, number: int, steps: Sequence[Step]) -> None:
        """Takes note of the latest steps of so many batches.

        What was saved before them has proved good where all of them had numbers.
        """
        self.sound = all(step.finite for step in steps[-1:])
        if self.saved and not self.has(number) and all(step.finite for step in steps):
            self.good = self.saved

    def last_good(self, error: Diverged) -> Path | None:
        """The newest checkpoint to go on from; one whose next loss was no number is set aside."""
        before = error.step - 1 - self.first_step
        with warned():
            if self.saved and self.has(before) and not error.loss_is_number:
                print(f"{self.saved} led to a loss that is not finite and is set aside", flush=True)
                snapshots.set_aside(self.saved)
        return next(iter(snapshots.newest_first(self.directory)), None)

    def write(self, number: int) -> Path:
        """Writes a checkpoint with all that is needed to go on from it."""
        trainer, setup = self.setup.trainer, self.setup
        if self.lock:
            self.lock.renew()
        if setup.data.batches_per_epoch:
            trainer.epochs.assign((setup.first + number) / setup.data.batches_per_epoch)
        rate = float(learning_rate(setup.config.optimizer, trainer.step - 1))
        facts = {"step": self.first_step + number, "seed": self.run.seed, "learning_rate": rate}
        more = {
            model_dir.CONFIG: model_dir.config_bytes(setup.config),
            model_dir.PROGRESS: history.to_json(facts, setup.history),
            **self.vocabularies,
        }
        return checkpoints.save(trainer, self.directory, more)

    def path_of(self, score: Score) -> Path:
        """Where the checkpoint of a look is, if it was saved."""
        return self.directory / f"{snapshots.PREFIX}{score.step}"

    def would_be_best(self, number: int) -> bool:
        """Whether the step after so many batches was judged better than all that is saved.

        A better one before it may not have been saved, for the disk was full.
        """
        here = self.first_step + number
        best = self.setup.history.best_of(lambda s: s.step == here or self.path_of(s).is_dir())
        return best is not None and best.step == here and not self.has(number)

    def best(self) -> Path | None:
        """The checkpoint with the highest score of those that are there."""
        score = self.setup.history.best_of(lambda score: self.path_of(score).is_dir())
        return self.path_of(score) if score else None

    def linked(self) -> Path | None:
        """The checkpoint that `best` leads to."""
        return snapshots.best(self.directory)

    def mark_best(self) -> None:
        """Lets `best` lead to the best checkpoint."""
        best = self.best()
        if best and self.linked() != best:
            snapshots.mark_best(self.directory, best)


@contextlib.contextmanager
def warned() -> Iterator[None]:
    """What cannot be written costs a line, not the run."""
    try:
        yield
    except (SaveFailed, OSError) as error:
        print(f"train.py: {error}; training goes on", file=sys.stderr, flush=True)
