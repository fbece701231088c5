"""Counting words and time: what was processed, how long it took, warm-up kept apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from nmt.types import StepResult


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
        self.last = clock()

    def start(self) -> None:
        """Starts the clock of the next step; what came before belongs to none."""
        self.last = self.clock()

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
        if self.pending:
            waited = self.clock()
            self.step_seconds[-1] += waited - self.last
            self.last = waited
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
    def words_per_s(self) -> float:
        """Words of the timed batches per second; 0 where there were none."""
        seconds = sum(self.timed_seconds)
        return sum(self.words[self.num_warmup :]) / seconds if seconds else 0.0
