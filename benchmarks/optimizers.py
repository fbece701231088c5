"""Measures what an optimizer costs over replicas, phase by phase.

A report on data-parallel training found AdamW slow on several GPUs and could only guess why from
its times of batch, transfer and backward pass. Here every phase has a column of its own. Phases
and the step they make up are measured in a window after the timed batches; input is waited for
before a step.

    sh scripts/compare_optimizers.sh [--rounds=5] [train.py's flags]
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.command_line import REST, Parser
from benchmarks.rounds import Found, Record, measure, median, parse, refuse_mistakes, table, train
from nmt.config import OPTIMIZERS
from nmt.measuring.middle import middle

REPLICAS = (1, 2, 4)
DEFAULTS = ["--encoder_type=cudnn_lstm", "--batch_size=16", "--report_phases"]
DEFAULTS += ["--num_warmup_batches=10", "--num_batches=20"]
PHASES = {
    "transfer": "Data transfer time",
    "read": "Read time",
    "wait": "Wait for a thread",
    "forward": "Forward time",
    "backward": "Backward time",
    "others": "Wait for others",
    "exchange": "Exchange time",
    "update": "Update time",
}


def phases_of(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Those of the middle rounds by their step, the same for all phases, so that they add up."""
    every: list[dict[str, Any]] = [record["phase_seconds"] for record in records]
    return [every[number] for number in middle(np.array([found["step"] for found in every]))]


def phase(records: Sequence[Record], name: str) -> float:
    """Seconds of a phase, mean of the replicas and rounds."""
    return statistics.mean(s for found in phases_of(records) for s in found["replicas"][name])


def input_seconds(records: Sequence[Record]) -> float:
    """Seconds that a timed batch was waited for."""
    return statistics.mean(found["input_wait"] for found in phases_of(records))


def batch_seconds(records: Sequence[Record]) -> float:
    """Seconds of a timed batch, median of the rounds."""
    return median(records, "timed_seconds") / records[0]["timed_batches"]


def step_seconds(records: Sequence[Record]) -> float:
    """Seconds of a step in the window the phases were measured in."""
    return statistics.mean(found["step"] for found in phases_of(records))


def cell(optimizer: str, count: int) -> str:
    """A cell's name."""
    return f"{optimizer} {count}"


def grown(found: Found, few: str, many: str) -> str:
    """The two phases that take most of what one cell needs more than another."""
    if few not in found or many not in found:
        return ""
    more = {name: phase(found[many], name) - phase(found[few], name) for name in PHASES}
    most = sorted(more, key=lambda name: -more[name])[:2]
    seconds = step_seconds(found[many]) - step_seconds(found[few])
    return f"step {seconds:+.3f}: " + ", ".join(f"{name} {more[name]:+.3f}" for name in most)


def summary(found: Found) -> str:
    """The table, and what grew: with replicas, and with the optimizer."""
    rows = []
    for name, records in found.items():
        optimizer, count = name.split()
        parts = [phase(records, one) for one in PHASES]
        outer = [batch_seconds(records), input_seconds(records)]
        times = [*outer, *parts, step_seconds(records)]
        batch = str(records[0]["batch_size_per_replica"])
        reason = grown(found, cell(optimizer, 1), name) if count != "1" else ""
        versus = grown(found, cell("sgd", int(count)), name) if optimizer != "sgd" else ""
        rows.append([optimizer, count, batch, *(f"{time:.3f}" for time in times), reason, versus])
    heading = ["Optimizer", "Replicas", "Batch size per replica", "Time per batch"]
    heading += ["Input wait", *PHASES.values(), "Step of the window"]
    return table([*heading, "Against 1 replica", "Against sgd"], rows)


def main(argv: Sequence[str]) -> None:
    """Measures all rounds and prints the table; times are seconds."""
    parser = Parser("sh scripts/compare_optimizers.sh", __doc__, epilog=REST)
    mine, given, _ = parse(parser, argv, DEFAULTS, 5)
    commands = {
        cell(optimizer, count): [*given, f"--optimizer={optimizer}", f"--num_replicas={count}"]
        for optimizer in OPTIMIZERS
        for count in REPLICAS
    }
    refuse_mistakes(parser, commands.values())
    cells = {name: partial(train, command) for name, command in commands.items()}
    print(f"\n{summary(measure(cells, mine.rounds))}")


if __name__ == "__main__":
    main(sys.argv[1:])
