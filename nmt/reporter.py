"""What the user sees of a run: a plan, progress, and the closing table."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from tqdm import tqdm

from nmt.errors import Diverged
from nmt.throughput import Meter, Window
from nmt.types import StepResult


class Reporter:
    """Counts steps and shows how they go: a bar in a terminal, plain lines in a log."""

    def __init__(
        self, meter: Meter, num_batches: int, rate: Callable[[], float], *, bar: bool | None = None
    ) -> None:
        self.meter = meter
        self.num_batches = num_batches
        self.rate = rate
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

    def report(self, batch: int) -> None:
        """Waits for the steps so far and prints one line."""
        window = self.meter.read()
        if not math.isfinite(window.loss):
            raise Diverged(
                f"the loss became {window.loss} between batches {batch - window.num_batches + 1} "
                f"and {batch}; give a smaller --learning_rate or --max_gradient_norm"
            )
        line = progress_line(batch, self.num_batches, window, self.rate())
        if batch <= self.meter.num_warmup:
            line += "  (warm-up)"
        tqdm.write(line, file=sys.stdout)
        sys.stdout.flush()
        # What printing costs is not the next step's.
        self.meter.start()


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
