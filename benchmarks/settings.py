"""Measures what train.py arranges before TensorFlow starts against other settings of it.

    .venv/bin/python -m benchmarks.settings [--rounds=3] [train.py's flags]

The first setting is train.py's own; every other one differs from it in one thing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from benchmarks.command_line import REST, Parser
from benchmarks.rounds import Record, measure, median, parse, ratio, table, train

DEFAULTS: Final = ["--direction=bi", "--encoder_type=cudnn_lstm"]
KEEPING: Final = {
    "TF_CPU_ALLOCATOR_USE_BFC": "0",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(32 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}


class Setting(NamedTuple):
    """What is changed: the environment, or train.py's flags."""

    environment: Mapping[str, str] = {}
    flags: Sequence[str] = ()


SETTINGS: Final = {
    "as train.py arranges it": Setting(),
    "oneDNN off": Setting({"TF_ENABLE_ONEDNN_OPTS": "0"}),
    "the C library's allocator": Setting({"TF_CPU_ALLOCATOR_USE_BFC": "0"}),
    "the C library's allocator, giving nothing back": Setting(KEEPING),
    "small pages": Setting({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}),
    "one operation at once": Setting(flags=["--num_inter_threads=1"]),
    "four operations at once": Setting(flags=["--num_inter_threads=4"]),
    "one thread within an operation": Setting(flags=["--num_intra_threads=1"]),
    "four threads within an operation": Setting(flags=["--num_intra_threads=4"]),
}


def summary(found: Mapping[str, list[Record]]) -> str:
    """The table; speeds are compared with the first setting's of the same round."""
    own = found.get(next(iter(SETTINGS)), [])
    rows = [
        [
            name,
            f"{median(of, 'words_per_second'):,.0f}",
            ratio(of, own),
            f"{median(of, 'seconds_to_first_step'):.1f}",
            f"{median(of, 'peak_memory_bytes') / 2**20:,.0f}",
        ]
        for name, of in found.items()
    ]
    heading = ["Setting", "words/s (median)", "of train.py's own"]
    return table([*heading, "to the first step (s)", "peak memory (MiB)"], rows)


def main(argv: Sequence[str]) -> None:
    """Measures all rounds and prints the table."""
    parser = Parser("python -m benchmarks.settings", __doc__, epilog=REST)
    mine, given, _ = parse(parser, argv, DEFAULTS, 3)
    cells = {
        name: partial(train, [*given, *setting.flags], setting.environment)
        for name, setting in SETTINGS.items()
    }
    print(f"\n{summary(measure(cells, mine.rounds))}")


if __name__ == "__main__":
    main(sys.argv[1:])
