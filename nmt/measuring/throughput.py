"""Counting words and time: what was processed, how long it took, warm-up kept apart."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from nmt.types import StepResult

Item = TypeVar("Item")


class Step(NamedTuple):
    """The numbers of a step that was made."""

    loss: float  # per target token
    num_tokens: int
    gradient_norm: float
    num_skipped: int

    @property
    def finite(self) -> bool:
        """Whether it is one that can be learned from."""
        return math.isfinite(self.loss) and math.isfinite(self.gradient_norm)


class Window(NamedTuple):
    """The batches since the last look."""

    words_per_s: float
    seconds_per_batch: float
    loss: float  # per target token, of steps with numbers; nan where there were none
    gradient_norm: float  # their mean
    steps: list[Step]

    @property
    def num_batches(self) -> int:
        """How many there were."""
        return len(self.steps)


def read_step(result: StepResult) -> Step:
    """Waits for a step's numbers."""
    replicas, update = result
    tokens = int(replicas.num_tokens)
    norm, skipped = float(update.gradient_norm), int(update.num_skipped)
    return Step(float(replicas.loss_sum) / max(1, tokens), tokens, norm, skipped)


class Counts(NamedTuple):
    """What steps processed."""

    words: int
    ids: int  # the same number, but where ids are characters
    target_ids: int


def read_counts(result: StepResult) -> Counts:
    """Waits for what a step processed."""
    replicas = result.replicas
    return Counts(*map(int, (replicas.num_words, replicas.num_ids, replicas.num_tokens)))


class Meter:
    """Collects step results and reads them only when asked, so that steps need not wait."""

    def __init__(self, num_warmup: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self.num_warmup = num_warmup
        self.clock = clock
        self.pending: list[StepResult] = []
        # Arrays, and sums where no list is asked for: runs have millions of steps.
        self.step_seconds = array("d")
        self.losses = array("d")  # per target token
        self.num_skipped = 0  # updates left out
        self.timed = Counts(0, 0, 0)
        self.input_wait_s = 0.0  # of the timed steps, until their batches were there
        self.waited = 0.0  # for the batch at hand
        self.first_end: float | None = None  # when the first step was done
        self.last = clock()

    def start(self) -> None:
        """Starts the clock of the next step; what came before belongs to none."""
        self.last = self.clock()

    def waiting_for(self, batches: Iterable[Item]) -> Iterator[Item]:
        """Passes batches on and counts the time until each is there."""
        iterator = iter(batches)
        while True:
            asked = self.clock()
            try:
                batch = next(iterator)
            except StopIteration:
                return
            self.waited = self.clock() - asked
            yield batch

    def count(self, result: StepResult) -> None:
        """Takes in a step that has been issued; a device may still be at work on it."""
        self.pending.append(result)
        if len(self.step_seconds) >= self.num_warmup:
            self.input_wait_s += self.waited
        now = self.clock()
        self.step_seconds.append(now - self.last)
        self.last = now

    def read(self) -> Window:
        """Waits for all steps that were issued and gives their averages.

        The wait belongs to the last step, so sums over whole windows are exact even where a
        device runs behind the host.
        """
        steps = [read_step(result) for result in self.pending]
        counts = list(map(read_counts, self.pending))
        if self.pending:
            waited = self.clock()
            self.step_seconds[-1] += waited - self.last
            self.last = waited
            self.first_end = self.first_end or waited
        self.pending = []
        timed = counts[max(0, self.num_warmup - len(self.losses)) :]
        self.timed = Counts(*map(sum, zip(self.timed, *timed)))
        self.losses.extend(step.loss for step in steps)
        self.num_skipped += sum(step.num_skipped for step in steps)
        return self._window(steps, sum(each.words for each in counts))

    def _window(self, steps: list[Step], words: int) -> Window:
        seconds = sum(self.step_seconds[len(self.step_seconds) - len(steps) :])
        good = [step for step in steps if step.finite]
        tokens = sum(step.num_tokens for step in good)
        loss = sum(step.loss * step.num_tokens for step in good) / tokens if tokens else math.nan
        norm = sum(step.gradient_norm for step in good) / len(good) if good else math.nan
        rate = words / seconds if seconds else 0.0
        return Window(rate, seconds / max(1, len(steps)), loss, norm, steps)

    @property
    def timed_seconds(self) -> list[float]:
        """Seconds of each timed batch."""
        return list(self.step_seconds[self.num_warmup :])

    @property
    def words_per_s(self) -> float:
        """Words of the timed batches per second; 0 where there were none."""
        return self._per_second(self.timed.words)

    @property
    def ids_per_s(self) -> float:
        """Ids of the timed batches per second; 0 where there were none."""
        return self._per_second(self.timed.ids)

    def _per_second(self, number: int) -> float:
        seconds = sum(self.timed_seconds)
        return number / seconds if seconds else 0.0
