"""Measures how speed, start and memory change as one size grows and all others stay.

    .venv/bin/python -m benchmarks.costs [--rounds=2] [--curve=replicas] [train.py's flags]

Speed is compared with a curve's smallest point; the share of the machine's arithmetic says whether
a slower point only has more to compute.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from benchmarks.command_line import REST, Parser
from benchmarks.rounds import Found, Record, measure, median, parse, refuse_mistakes, table, train

DEFAULTS = ["--dataset=synthetic", "--src_max_len=25", "--tgt_max_len=25", "--direction=bi"]
DEFAULTS += ["--encoder_type=cudnn_lstm", "--num_warmup_batches=2", "--num_batches=4"]


class Curve(NamedTuple):
    """One size, its values, and the flags that set it."""

    values: Sequence[int]
    flags: Callable[[int], list[str]]


def setting(*names: str) -> Callable[[int], list[str]]:
    """Flags that all take the value itself."""
    return lambda value: [f"--{name}={value}" for name in names]


def replicas(count: int) -> list[str]:
    """So many replicas that share 64 sentences."""
    return [f"--num_replicas={count}", f"--batch_size={64 // count}"]


CURVES = {
    "batch size": Curve((8, 16, 32, 64, 128, 256, 512), setting("batch_size")),
    "sentence length": Curve((10, 25, 50, 100), setting("src_max_len", "tgt_max_len")),
    "vocabulary": Curve((2000, 8000, 20000, 50000), setting("src_vocab_size", "tgt_vocab_size")),
    "units": Curve((128, 256, 512, 1024), setting("num_units", "embedding_dim")),
    "layers": Curve((2, 4, 8), setting("num_encoder_layers", "num_decoder_layers")),
    "replicas": Curve((1, 2, 4, 8), replicas),
}


def row(value: int, records: Sequence[Record], first: Sequence[Record], best: float) -> list[str]:
    """One point of a curve; `first` is its smallest one's, `best` the machine's rate."""
    speeds = [record["words_per_second"] for record in records]

    def of_first(field: str) -> str:
        return f"{median(records, field) / median(first, field):.2f}" if first else ""

    return [
        f"{value:,}",
        f"{statistics.median(speeds):,.0f} ({min(speeds):,.0f} to {max(speeds):,.0f})",
        of_first("words_per_second"),
        f"{median(records, 'model_flops_per_second') / best:.2f}" if best else "",
        f"{statistics.median(map(median_step, records)):.3f}",
        f"{median(records, 'seconds_to_first_step'):.1f}",
        of_first("seconds_to_first_step"),
        f"{median(records, 'peak_memory_bytes') / 2**20:,.0f}",
        of_first("peak_memory_bytes"),
    ]


def median_step(record: Record) -> float:
    """Seconds of a timed step."""
    return statistics.median(record["step_seconds"])


def summary(name: str, found: Found) -> str:
    """A curve's table; the machine's rate is the best of all curves' runs."""
    rates = (record["matmul_flops_per_second"] for of in found.values() for record in of)
    best = max(rate or 0.0 for rate in rates)
    points = {value: found.get(f"{name} {value}", []) for value in CURVES[name].values}
    first = next(iter(points.values()))
    heading = [name.capitalize(), "words/s (range)", "of the first", "of the machine's arithmetic"]
    heading += ["step (s)", "to the first step (s)", "of the first"]
    heading += ["peak memory (MiB)", "of the first"]
    return table(heading, [row(value, of, first, best) for value, of in points.items() if of])


def main(argv: Sequence[str]) -> None:
    """Measures all curves, or the one that was named, and prints their tables."""
    parser = Parser("python -m benchmarks.costs", __doc__, epilog=REST)
    parser.add_argument("--curve", choices=list(CURVES), help="nothing but this one")
    mine, given, _ = parse(parser, argv, DEFAULTS, 2)
    names = [mine.curve] if mine.curve else list(CURVES)
    commands = {
        f"{name} {value}": [*given, *CURVES[name].flags(value)]
        for name in names
        for value in CURVES[name].values
    }
    refuse_mistakes(parser, commands.values())
    cells = {name: partial(train, command) for name, command in commands.items()}
    found = measure(cells, mine.rounds)
    if not found:
        sys.exit("nothing was measured")
    for name in names:
        print(f"\n{summary(name, found)}")


if __name__ == "__main__":
    main(sys.argv[1:])
