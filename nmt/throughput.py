"""Counting words and time: what was processed, how long it took, warm-up kept apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from nmt.types import StepResult

Item = TypeVar("Item")


class Window(NamedTuple):
    """The batches since the last look."""

    num_batches: int
    words_per_s: float
    seconds_per_batch: float
    loss: float  # per target token


class Meter:
    """Collects step results and reads them only when asked, so that steps need not wait."""

    def __init__(self, num_warmup: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self.num_warmup = num_warmup
        self.clock = clock
        self.pending: list[StepResult] = []
        self.step_seconds: list[float] = []
        self.losses: list[float] = []  # per target token
        self.words: list[int] = []
        self.ids: list[int] = []  # the same numbers, but where ids are characters
        self.target_ids: list[int] = []
        self.wait_seconds: list[float] = []  # of each step, until its batch was there
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
            self.wait_seconds.append(self.clock() - asked)
            yield batch

    def count(self, result: StepResult) -> None:
        """Takes in a step that has been issued; a device may still be at work on it."""
        self.pending.append(result)
        self._lap()

    def _lap(self) -> None:
        now = self.clock()
        self.step_seconds.append(now - self.last)
        self.last = now

    def read(self) -> Window:
        """Waits for all steps that were issued and gives their averages.

        The wait belongs to the last step, so sums over whole windows are exact even where a
        device runs behind the host.
        """
        losses = [(float(r.loss_sum), float(r.num_tokens)) for r in self.pending]
        words = [int(r.num_words) for r in self.pending]
        self.ids += [int(r.num_ids) for r in self.pending]
        self.target_ids += [int(r.num_tokens) for r in self.pending]
        if self.pending:
            waited = self.clock()
            self.step_seconds[-1] += waited - self.last
            self.last = waited
            self.first_end = self.first_end or waited
        self.pending = []
        self.losses += [total / max(1.0, tokens) for total, tokens in losses]
        self.words += words
        return self._window(losses, words)

    def _window(self, losses: list[tuple[float, float]], words: list[int]) -> Window:
        count = len(words)
        seconds = sum(self.step_seconds[len(self.step_seconds) - count :])
        tokens = sum(tokens for _, tokens in losses)
        loss = sum(total for total, _ in losses) / max(1.0, tokens)
        rate = sum(words) / seconds if seconds else 0.0
        return Window(count, rate, seconds / max(1, count), loss)

    @property
    def timed_seconds(self) -> list[float]:
        """Seconds of each timed batch."""
        return self.step_seconds[self.num_warmup :]

    @property
    def input_wait_s(self) -> float:
        """Seconds of the timed batches that passed until their data was there."""
        return sum(self.wait_seconds[self.num_warmup : len(self.step_seconds)])

    @property
    def words_per_s(self) -> float:
        """Words of the timed batches per second; 0 where there were none."""
        return self._per_second(self.words)

    @property
    def ids_per_s(self) -> float:
        """Ids of the timed batches per second; 0 where there were none."""
        return self._per_second(self.ids)

    @property
    def timed_ids(self) -> tuple[int, int]:
        """Source and target ids of the timed batches."""
        target = sum(self.target_ids[self.num_warmup :])
        return sum(self.ids[self.num_warmup :]) - target, target

    def _per_second(self, numbers: list[int]) -> float:
        seconds = sum(self.timed_seconds)
        return sum(numbers[self.num_warmup :]) / seconds if seconds else 0.0
