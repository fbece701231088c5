"""What the user sees of a run: a plan, progress, and the closing table."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final

from tqdm import tqdm

from nmt.errors import Diverged
from nmt.measuring.throughput import Meter, Step, Window
from nmt.types import StepResult

MOST_SKIPPED: Final = 100
"""So many steps in a row without numbers: the weights themselves are none."""


class Reporter:
    """Counts steps and shows how they go: a bar in a terminal, plain lines in a log."""

    def __init__(
        self,
        meter: Meter,
        num_batches: int,
        rate: Callable[[], float],
        *,
        first_step: int = 0,
        skips: bool = False,
        bar: bool | None = None,
    ) -> None:
        self.meter = meter
        self.num_batches = num_batches
        self.rate = rate
        self.first_step = first_step
        self.skips = skips  # a loss that is no number is left out
        self.row: list[Step] = []  # the latest steps that were left out, one after the other
        wanted = sys.stderr.isatty() and sys.stdout.isatty() if bar is None else bar
        self.bar: Any = tqdm(total=num_batches, unit="batch", disable=not wanted, leave=False)

    def __enter__(self) -> Reporter:
        self.meter.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.close()

    def count(self, result: StepResult) -> None:
        """Takes in one step."""
        self.meter.count(result)
        self.bar.update()

    def report(self, batch: int) -> Window:
        """Waits for the steps so far and prints one line."""
        window = self.meter.read()
        self.refuse_no_numbers(window, self.first_step + batch)
        line = progress_line(batch, self.num_batches, window, self.rate())
        if batch <= self.meter.num_warmup:
            line += "  (warm-up)"
        if self.meter.num_skipped:
            line += f"  ({self.meter.num_skipped} skipped)"
        tqdm.write(line, file=sys.stdout)
        sys.stdout.flush()
        return window

    def go_on(self) -> None:
        """What was done since the last step is not the next one's."""
        self.meter.start()

    def refuse_no_numbers(self, window: Window, last_step: int) -> None:
        """Stops at a step that nothing can be learned from; at many, where such are left out."""
        for number, step in enumerate(window.steps, last_step - window.num_batches + 1):
            self.row = [] if step.finite else [*self.row, step]
            if len(self.row) == (MOST_SKIPPED if self.skips else 1):
                raise diverged(self.row, number)


def diverged(row: Sequence[Step], last_step: int) -> Diverged:
    """What stops a run after some steps without numbers."""
    first, number = row[0], last_step - len(row) + 1
    further = f" and at the {len(row) - 1} steps after it" if len(row) > 1 else ""
    other = "" if further else ", or --skip_nan_steps"
    return Diverged(
        f"the loss became {first.loss:.4g} at step {number:,}{further}, with a gradient norm of "
        f"{first.gradient_norm:.4g}; give a smaller --learning_rate or --max_gradient_norm{other}",
        number,
        loss_is_number=math.isfinite(first.loss),
    )


def progress_line(batch: int, num_batches: int, window: Window, rate: float) -> str:
    """One line of progress, averaged over the batches since the last one."""
    minutes, seconds = divmod(round((num_batches - batch) * window.seconds_per_batch), 60)
    # The first batch is mostly tracing and foretells nothing.
    left = f"left {minutes}:{seconds:02d}" if batch > 1 else "traced"
    return (
        f"batch {batch:5d}/{num_batches}  loss {window.loss:.3f}  lr {rate:.2g}  "
        f"{window.words_per_s:9,.0f} words/s  {window.seconds_per_batch:.3f} s/batch  {left}"
    )


def speed_table(first_heading: str, num_timed: int, rows: Sequence[Sequence[object]]) -> str:
    """The closing table; a row is replicas, batch size, seconds, words/s, speedup."""
    headings = (
        first_heading,
        "Batch size",
        f"Total time to process {num_timed} batches (s)",
        "Processing speed (words/s)",
        "Speedup ratio",
    )
    lines = [headings, (":--",) * len(headings), *rows]
    return "\n".join("|" + "|".join(str(cell) for cell in line) + "|" for line in lines)
