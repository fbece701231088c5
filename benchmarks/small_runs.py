"""Small runs in processes of their own, and what they leave: what `faults` breaks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.rounds import ROOT

NUM_STEPS: Final = 150
MODEL: Final = [
    "--dataset=demo",
    *("--encoder_type=cudnn_lstm", "--direction=bi", "--num_units=32", "--embedding_dim=32"),
    *("--num_encoder_layers=2", "--num_decoder_layers=1", "--attention=luong", "--dropout=0.1"),
    *("--batch_size=16", "--num_warmup_batches=0", f"--num_batches={NUM_STEPS}", "--log_every=10"),
    *("--save_every_steps=20", "--num_keep_ckpts=3", "--ema_decay=0.99", "--deterministic"),
    *("--src_max_len=12", "--tgt_max_len=12", "--eval_every=50"),
]
SLOWEST_START_S: Final = 300.0
BATCH: Final = re.compile(r"batch +(\d+)/")


class Finished(NamedTuple):
    """A run that came to its end."""

    losses: list[float]
    state: str  # checksum of everything that was trained
    said: str
    seconds: float


def start(directory: Path, flags: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Trains in a process of its own."""
    own = [f"--output_dir={directory / 'out'}", f"--results_file={directory / 'results.json'}"]
    return subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *MODEL, *own, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        **options,
    )


def finish(directory: Path, flags: Sequence[str]) -> Finished:
    """Trains to the end."""
    began = time.monotonic()
    process = start(directory, flags)
    said, _ = process.communicate(timeout=SLOWEST_START_S)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {said}")
    seconds = time.monotonic() - began
    return Finished(losses_of(directory), state_of(newest(directory)), said, seconds)


def losses_of(directory: Path) -> list[float]:
    """Those of the last run that came to its end there."""
    record = json.loads((directory / "results.json").read_text().splitlines()[-1])
    losses: list[float] = record["losses"]
    return losses


def checkpoints(directory: Path) -> list[Path]:
    """Whole or not, the newest last."""
    found = (path for path in (directory / "out").glob("step-*") if path.name[5:].isdigit())
    return sorted(found, key=lambda path: int(path.name[5:]))


def newest(directory: Path) -> Path:
    """The newest checkpoint."""
    return checkpoints(directory)[-1]


def steps_saved(directory: Path) -> list[int]:
    """Steps that have a checkpoint, and the beginning, which needs none."""
    return [0, *(int(path.name[5:]) for path in checkpoints(directory))]


def state_of(checkpoint: Path) -> str:
    """A checksum over weights, optimizer, step and place in the data."""
    sums: dict[str, str] = json.loads((checkpoint / "manifest.json").read_text())
    return sums["state.data-00000-of-00001"]


def until(process: subprocess.Popen[str], expected: Callable[[str], bool]) -> None:
    """Reads until a line is as expected, or the process ends."""
    assert process.stdout is not None
    for line in process.stdout:
        if expected(line):
            return


def is_plan(line: str) -> bool:
    """Whether this line comes before the first step."""
    return line.startswith("runtime ")


def tells_of(step: int) -> Callable[[str], bool]:
    """Whether a line tells of a step, or of one after it."""

    def tells(line: str) -> bool:
        found = BATCH.match(line)
        return found is not None and int(found[1]) >= step

    return tells
