"""Measures the input pipeline: words/s, time to the first batch, memory, and how long steps wait.

    .venv/bin/python scripts/bench_input.py --src_file_name=FILE --tgt_file_name=FILE \\
        [--rounds=3] [--train_batches=20] [--tenfold=true]

Every cell is a fresh process; the rounds go through all cells in turn. `raw` starts from text with
nothing learned, `encode` from text with the vocabularies learned, `cache` with the text encoded;
each delivers one whole epoch at batch 64. `train` is train.py at its default sizes on the same
files. Figures are medians; words are real ones.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.command_line import Parser
from benchmarks.rounds import ROOT, Failed, output_of
from nmt.errors import UserError

FILES = ("src_file_name", "tgt_file_name")
YES, NO = "true", "false"
KEPT = {"raw": (), "encode": ("vocabularies",), "cache": ("vocabularies", "pairs")}
"""What is left in the cache before each cell."""


def make_parser() -> Parser:
    """The command line; what is not in its help is what this program says to itself."""
    parser = Parser("python scripts/bench_input.py", __doc__)
    for name, side in zip(FILES, ("source", "target")):
        parser.add_argument(f"--{name}", required=True, help=f"{side} text")
    parser.add_count("rounds", 3, "how often every cell is measured")
    parser.add_count("train_batches", 20, "timed batches of every training run")
    text = "also measure ten times the text, for its memory"
    parser.add_argument(
        "--tenfold", choices=(YES, NO), nargs="?", const=YES, default=YES, help=text
    )
    parser.add_argument("--notenfold", dest="tenfold", action="store_const", const=NO)
    # Measure this one and print JSON; where it finds or leaves its cache; when it was started.
    parser.add_argument("--cell", choices=KEPT, help=argparse.SUPPRESS)
    parser.add_argument("--cache_dir", default="", help=argparse.SUPPRESS)
    parser.add_argument("--started", type=float, default=0.0, help=argparse.SUPPRESS)
    return parser


def measure_pipeline(given: argparse.Namespace) -> dict[str, float]:
    """One epoch through the pipeline, in this process."""
    begun = time.time()
    from nmt.machine import environment

    environment.prepare(verbosity=0)
    from input_pipeline.sources import SOURCES
    from input_pipeline.training_data import Request
    from nmt.config import DataConfig

    config = DataConfig(
        src_file_name=given.src_file_name,
        tgt_file_name=given.tgt_file_name,
        cache_dir=given.cache_dir,
    )
    imported, cpu = time.time(), time.process_time()
    data = SOURCES["files"](Request(config, ["CPU:0"], num_epochs=1, seed=1))
    words, first = 0, 0.0
    for (batch,) in data.batches_from(0):
        first = first or time.time()
        words += int(batch.source_lengths.numpy().sum() + batch.target_lengths.numpy().sum())
    return {
        "words": words,
        "words_per_s": words / (time.time() - imported),
        "cpu_s": time.process_time() - cpu,
        "first_batch_s": first - (given.started or begun),
        "padding": data.padding_share,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def run_cell(cell: str, files: Sequence[str], cache: Path) -> dict[str, Any]:
    """Measures a cell of the pipeline in a fresh process."""
    for name in ("vocabularies", "pairs"):
        if name not in KEPT[cell]:
            shutil.rmtree(cache / name, ignore_errors=True)
    command = [sys.executable, __file__, f"--cell={cell}", f"--cache_dir={cache}"]
    command += [*files, f"--started={time.time()}"]
    return dict(json.loads(output_of(command).splitlines()[-1]))


def run_training(files: Sequence[str], cache: Path, *more: str) -> dict[str, Any]:
    """Words/s of the default model and the share of time its steps wait for input."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "results.json"
        command = [sys.executable, str(ROOT / "train.py"), *files, f"--cache_dir={cache}"]
        command += ["--encoder_type=cudnn_lstm", "--num_warmup_batches=3"]
        output_of([*command, *more, f"--results_file={path}"])
        record = json.loads(path.read_text())
    share = record["input_wait_seconds"] / record["timed_seconds"]
    return {"words_per_s": record["words_per_second"], "wait_share": share}


def tenfold(files: Sequence[str], directory: Path) -> list[str]:
    """Flags for files that hold the text ten times."""
    from input_pipeline.text_files import expand, open_lines

    made = []
    for flag in files:
        name, paths = flag.split("=", 1)
        copy = directory / name.strip("-")
        with copy.open("wb") as out:
            for path in 10 * expand(paths):
                with open_lines(path) as text:
                    shutil.copyfileobj(text, out)
        made.append(f"{name}={copy}")
    return made


def measure_all(given: argparse.Namespace, directory: Path) -> dict[str, list[dict[str, Any]]]:
    """All rounds of all cells."""
    found: dict[str, list[dict[str, Any]]] = {}
    files, batches = files_of(given), f"--num_batches={given.train_batches}"
    large = tenfold(files, directory) if given.tenfold == YES else []
    for number in range(1, given.rounds + 1):
        cells = {cell: run_cell(cell, files, directory / "cache") for cell in KEPT}
        for prefetch in (True, False):
            name = "train" if prefetch else "train, no prefetch"
            way = f"--prefetch_data_to_device={prefetch}"
            cells[name] = run_training(files, directory / "cache", batches, way)
        if large and number == 1:  # memory hardly varies, and each takes minutes
            for cell in ("raw", "cache"):
                cells[f"{cell}, ten times the text"] = run_cell(cell, large, directory / "large")
        for name, figures in cells.items():
            found.setdefault(name, []).append(figures)
            print(f"round {number}: {name} {json.dumps(figures)}", flush=True)
    return found


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Medians, and speeds as multiples of the training's."""

    def median(name: str, figure: str) -> float | None:
        values = [figures[figure] for figures in found[name] if figure in figures]
        return statistics.median(values) if values else None

    training = median("train", "words_per_s") or 1.0
    lines = [
        "|Cell|words/s|times training|CPU time (s)|start to first batch (s)|padding (%)"
        "|peak memory (MiB)|waiting for input (%)|",
        "|:--|:--|:--|:--|:--|:--|:--|:--|",
    ]
    formats = {
        "cpu_s": "{:.1f}",
        "first_batch_s": "{:.1f}",
        "padding": "{:.1%}",
        "peak_mib": "{:,.0f}",
    }
    for name in found:
        speed = median(name, "words_per_s") or 0.0
        cells = [name, f"{speed:,.0f}", f"{speed / training:,.1f}"]
        for figure, pattern in {**formats, "wait_share": "{:.2%}"}.items():
            value = median(name, figure)
            cells.append("" if value is None else pattern.format(value).rstrip("%"))
        lines.append("|" + "|".join(cells) + "|")
    return "\n".join(lines)


def files_of(given: argparse.Namespace) -> list[str]:
    """The flags that name the text."""
    return [f"--{name}={getattr(given, name)}" for name in FILES]


def main(argv: Sequence[str]) -> None:
    """Measures one cell, or all and prints the table."""
    parser = make_parser()
    given = parser.parse_args(argv)
    try:
        if given.cell:
            print(json.dumps(measure_pipeline(given)))
            return
        parser.train_config(files_of(given))
        with tempfile.TemporaryDirectory() as directory:
            print("\n" + table(measure_all(given, Path(directory))))
    except (UserError, Failed) as error:
        parser.refuse(str(error).removeprefix("bench_input.py: "))


if __name__ == "__main__":
    main(sys.argv[1:])
