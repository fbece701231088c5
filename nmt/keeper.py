"""What a run leaves behind while it goes on: checkpoints, looks at the dev set, curves."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf

from input_pipeline.vocabularies import kept_files
from nmt import checkpoints, curve, history, model_dir, snapshots
from nmt.dev import DevSet, Look
from nmt.errors import SaveFailed
from nmt.history import History, Score
from nmt.interrupt import Interrupt
from nmt.occasions import Due
from nmt.schedules import learning_rate
from nmt.setup import Setup
from nmt.summaries import Summaries
from nmt.throughput import Meter, Window


class Keeper:
    """Saves the model and looks at it, at the times the flags say."""

    def __init__(
        self, setup: Setup, meter: Meter, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.setup, self.meter, self.clock = setup, meter, clock
        self.trainer, self.run = setup.trainer, setup.config.run
        self.history: History = setup.history
        self.first_step = int(setup.trainer.step)
        self.saved_at = clock()
        self.saved: Path | None = setup.resumed  # the last good one
        self.looked_after = 0  # batches of this run before the last look
        self.directory = Path(self.run.output_dir) if self.run.output_dir else None
        self.summaries = Summaries(self.directory) if self.directory else None
        self.dev = make_dev_set(setup) if self.run.eval_every else None

    def due(self, number: int) -> Due:
        """What is to be done after so many batches of this run."""
        run, step = self.run, self.first_step + number
        last = number == self.setup.schedule.num_batches
        look = bool(run.eval_every) and (step % run.eval_every == 0 or last)
        by_steps = bool(run.save_every_steps) and step % run.save_every_steps == 0
        waited = self.clock() - self.saved_at
        by_time = bool(run.save_every_minutes) and waited >= 60 * run.save_every_minutes
        return Due(bool(self.directory) and (by_steps or by_time) and not last, look)

    def rate(self) -> float:
        """The learning rate of the last step."""
        return float(learning_rate(self.setup.config.optimizer, self.trainer.step - 1))

    def note(self, number: int, window: Window) -> None:
        """Writes a window's averages for TensorBoard."""
        if self.summaries:
            self.summaries.progress(self.first_step + number, window, self.rate())

    def catch_up(self, interrupt: Interrupt) -> None:
        """Does what the run before was kept from: a look that was due, a link to the best."""
        step, looked = self.first_step, [score.step for score in self.history.scores]
        if self.dev and step and step not in looked:
            last = self.setup.schedule.num_batches == 0
            if last or step % self.run.eval_every == 0:
                self.work(0, Due(save=False, look=True), interrupt)
        best = self.history.best
        if best and self.directory:
            path = self.directory / f"{snapshots.PREFIX}{best.step}"
            if path.is_dir() and snapshots.best(self.directory) != path:
                snapshots.mark_best(self.directory, path)

    def work(self, number: int, due: Due, interrupt: Interrupt) -> bool:
        """Does what is due; False where training has nothing left to gain."""
        found = interrupt.unless(self.dev.look, None) if self.dev and due.look else None
        better = found is not None and self.take(number, found)
        if self.directory and (due.save or better):
            with warned():
                path = self.saved if self.is_saved(number) else self.save(number)
                if better and path:
                    snapshots.mark_best(self.directory, path)
        return not self.history.has_stalled(self.run.patience)

    def take(self, number: int, found: Look) -> bool:
        """Notes what a look has found; True where it is the best so far."""
        losses = [loss for loss in self.meter.losses[self.looked_after :] if np.isfinite(loss)]
        self.looked_after = number
        evaluation = found.evaluation
        score = Score(
            self.first_step + number,
            float(np.mean(losses)) if losses else float("nan"),
            found.loss,
            found.perplexity,
            evaluation.bleu,
            evaluation.chrf,
        )
        better = self.history.add(score)
        print(describe(score) + ("  (best)" if better else ""), flush=True)
        if self.summaries and self.directory:
            self.summaries.look(score, evaluation)
            with warned():
                curve.draw(self.history, self.directory / curve.NAME)
        return better

    def is_saved(self, number: int) -> bool:
        """Whether the step after so many batches of this run is in a checkpoint."""
        step = self.first_step + number
        return self.saved is not None and snapshots.step_of(self.saved) == step

    def save(self, number: int) -> Path:
        """Writes a checkpoint after so many batches of this run, then removes the oldest ones."""
        assert self.directory is not None, "nothing is saved without --output_dir"
        setup, step = self.setup, self.first_step + number
        if setup.data.batches_per_epoch:
            self.trainer.epochs.assign((setup.first + number) / setup.data.batches_per_epoch)
        try:
            self.saved = checkpoints.save(self.trainer, self.directory, self.files(step))
        except (OSError, tf.errors.OpError, checkpoints.NoNumbers) as error:
            good = f"the last good one is {self.saved}" if self.saved else "there is none yet"
            raise SaveFailed(
                f"step {step} was not saved in {self.directory}: {reason(error)}; {good}"
            ) from error
        finally:
            self.saved_at = self.clock()
        print(f"saved {self.saved}", flush=True)
        with warned():
            snapshots.prune(self.directory, self.run.num_keep_ckpts)
        return self.saved

    def files(self, step: int) -> dict[str, bytes]:
        """What goes into a checkpoint beside the trainer's state."""
        assert self.directory is not None
        facts = {"step": step, "seed": self.run.seed, "learning_rate": self.rate()}
        return {
            model_dir.CONFIG: model_dir.config_bytes(self.setup.config),
            model_dir.PROGRESS: history.to_json(facts, self.history),
            **kept_files(self.directory),
        }

    def finish(self, number: int) -> None:
        """Saves the last step, unless it was."""
        if self.directory and not self.is_saved(number):
            self.save(number)

    def close(self) -> None:
        """Writes what is left."""
        if self.summaries:
            self.summaries.close()


def make_dev_set(setup: Setup) -> DevSet:
    """What the run's dev split is judged with."""
    data, vocabularies = setup.data, setup.data.vocabularies
    assert vocabularies is not None, "find_problems refuses --eval_every without text"
    longest = setup.config.data.tgt_max_len
    return DevSet(
        setup.trainer, vocabularies, data.dev, max_length=longest, tokenized=data.tokenized
    )


@contextlib.contextmanager
def warned() -> Iterator[None]:
    """What cannot be written costs a line, not the run."""
    try:
        yield
    except (SaveFailed, OSError) as error:
        print(f"train.py: {error}; training goes on", file=sys.stderr, flush=True)


def reason(error: Exception) -> str:
    """Why something could not be written, in a few words."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(getattr(error, "message", error)).splitlines()[0]


def describe(score: Score) -> str:
    """One line of progress."""
    return (
        f"dev at step {score.step:,}: loss {score.loss:.3f}  perplexity {score.perplexity:.2f}  "
        f"BLEU {score.bleu:.2f}  chrF {score.chrf:.2f}"
    )
