"""Measures all cells and writes the report; see scripts/run_scaling.sh."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from nmt import checks
from nmt.machine import cpu
from nmt.programs import DONE, FAILED, INTERRUPTED, REFUSED, show
from scaling.cells import (
    ENCODERS,
    STRATEGIES,
    BadRequest,
    Cell,
    make_cells,
    parse_counts,
    parse_names,
    parse_specs,
)
from scaling.plots import summary_plot
from scaling.report import make_report
from scaling.rows import make_phases, make_rows, to_records
from scaling.runs import Run, append, measure, missing, read_runs
from scaling.tables import comparison, table, to_csv
from scaling.wishes import HELP, asks_for_help, split, whole_number


def num_gpus() -> int:
    """GPUs that may be used; train.py says it where TensorFlow cannot use them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name and name != "-1"])
    if not shutil.which("nvidia-smi"):
        return 0
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def same_flags_as_before(wishes: dict[str, str], flags: Sequence[str]) -> None:
    """Runs of other flags, of another TensorFlow or with GPUs must not be mixed with these."""
    out = Path(wishes["out"])
    before, path = out / "runs.jsonl", out / "flags.json"
    machine = {"tensorflow": version("tensorflow"), "gpus": num_gpus(), "cpu": cpu.name()}
    now = json.dumps({"train": list(flags), "batch_size": wishes["batch_size"], **machine})
    if path.exists() and path.read_text() != now:
        if any(run.record for run in read_runs(before)):
            raise BadRequest(
                f"--out={out} has runs with other flags or on another machine; name another or "
                "remove it"
            )
        before.unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(now)


def refuse_mistakes(cells: Sequence[Cell], flags: Sequence[str], batch_size: int) -> None:
    """What train.py would refuse in every cell is said before the first one is begun."""
    problems: list[str] = []
    for cell in cells:
        _, problems = checks.read(cell.flags(batch_size, flags))
        if not problems:
            return
    raise BadRequest("; ".join(problems))


def measure_missing(cells: Sequence[Cell], wishes: dict[str, str], flags: Sequence[str]) -> None:
    """Measures what is not there yet, and keeps each result at once."""
    path = Path(wishes["out"]) / "runs.jsonl"
    batch, limit = whole_number(wishes, "batch_size"), 60.0 * whole_number(wishes, "limit_minutes")
    rounds = whole_number(wishes, "rounds")
    refuse_mistakes(cells, flags, batch)
    same_flags_as_before(wishes, flags)
    todo, failed = list(missing(cells, rounds, read_runs(path))), set()
    print(announcement(len(cells), rounds, len(todo)), flush=True)
    for number, (round_number, cell) in enumerate(todo, 1):
        if cell in failed:  # it would again, after as long a time
            continue
        run = dataclasses.replace(measure(cell, flags, batch, limit), round=round_number)
        append(run, path)
        refuse_other_devices(read_runs(path))
        failed |= set() if run.record else {cell}
        said = f"{run.record['words_per_second']:,.0f} words/s" if run.record else "FAILED"
        print(f"{number}/{len(todo)} round {round_number}: {cell}: {said} {run.error}", flush=True)


def announcement(cells: int, rounds: int, todo: int) -> str:
    """How many runs there are, and how many of them do not have to be made any more."""
    there = cells * rounds - todo
    said = f"{cells * rounds} run(s): {cells} cell(s) x {rounds} round(s)"
    return f"{said}; {there} are there already" if there else said


def refuse_other_devices(runs: Sequence[Run]) -> None:
    """GPUs that TensorFlow cannot use are not compared with those it can."""
    found = {run.record["device"] for run in runs if run.record}
    on_cpu = [name for name in found if name.startswith("CPU")]
    if num_gpus() and on_cpu:
        raise BadRequest(
            f"{num_gpus()} GPU(s) are here, but TensorFlow ran on {on_cpu[0]}; make it see them "
            "(make venv CUDA=1) and remove the results in --out, or set CUDA_VISIBLE_DEVICES="
        )


def still_failed(runs: Sequence[Run]) -> list[Run]:
    """The last failure of every cell that lacks a round because of it."""
    measured = {(run.round, run.cell) for run in runs if run.record}
    return list({run.cell: run for run in runs if (run.round, run.cell) not in measured}.values())


def all_refused(runs: Sequence[Run]) -> str:
    """What every cell says where none can be measured for the same reason; else nothing."""
    said = {run.error for run in still_failed(runs)}
    return said.pop() if len(said) == 1 and not any(run.record for run in runs) else ""


def write(wishes: dict[str, str], cells: Sequence[Cell], command: str) -> bool:
    """Tables to the terminal; CSV, JSON and HTML to the directory. False where a cell failed."""
    out = Path(wishes["out"])
    runs = [run for run in read_runs(out / "runs.jsonl") if run.cell in set(cells)]
    if reason := all_refused(runs):
        raise BadRequest(f"no cell could be measured: {reason}")
    rows = make_rows(runs)
    for name, encoder in dict.fromkeys((c.name, c.encoder_type) for c in cells):
        print(f"\n{name}, {encoder}\n\n{table(name, encoder, rows)}")
    print(f"\n{comparison(rows)}")
    failed = still_failed(runs)
    for run in failed:
        print(f"FAILED {run.cell}: {run.error}")
    (out / "scaling.csv").write_text(to_csv(rows))
    (out / "scaling.json").write_text(json.dumps(to_records(rows), indent=1))
    (out / "report.html").write_text(make_report(rows, failed, command, make_phases(runs)))
    (out / "scaling.svg").write_text(summary_plot(rows))
    print(f"\nwritten: {out}/scaling.csv, scaling.json, scaling.svg, report.html")
    return not failed


def main(argv: Sequence[str]) -> int:
    """Gives the exit code: 1 where a cell failed, 2 for a mistake in the command line."""
    if asks_for_help(argv):
        return show(HELP.rstrip())
    try:
        wishes, flags = split(argv)
        cells = make_cells(
            parse_counts(wishes["replicas"] or f"1..{num_gpus() or 8}"),
            parse_names("variable_update", wishes["variable_update"], STRATEGIES),
            parse_names("encoder_type", wishes["encoder_type"], ENCODERS),
            parse_specs(wishes["all_reduce_spec"]),
            gpu=num_gpus() > 0,
        )
        measure_missing(cells, wishes, flags)
        written = write(wishes, cells, shlex.join(["run_scaling.sh", *argv]))
        return DONE if written else FAILED
    except BadRequest as problem:
        print(f"run_scaling.sh: {problem}", file=sys.stderr)
        return REFUSED
    except OSError as error:
        print(f"run_scaling.sh: {error.filename}: {error.strerror}; name another", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("run_scaling.sh: broken off; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
