"""Medians of what was measured, and what they are of each other."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from scaling.cells import ONE_REPLICA, Cell
from scaling.runs import Run


class Row(NamedTuple):
    """One cell's medians over its rounds."""

    cell: Cell
    rounds: int
    batch_size: int
    timed_batches: int
    seconds: float
    words_per_s: float
    low: float  # of words_per_s
    high: float
    exchange_bytes: int
    peak_memory_mib: float
    to_first_step_s: float  # from the call, to the end of it
    device: str
    exchange: str  # what really ran


def make_rows(runs: Sequence[Run]) -> dict[Cell, Row]:
    """One row for every cell that was measured."""
    found: dict[Cell, list[dict[str, Any]]] = {}
    for run in runs:
        if run.record is not None:
            found.setdefault(run.cell, []).append(run.record)
    return {cell: make_row(cell, records) for cell, records in found.items()}


def make_row(cell: Cell, records: Sequence[dict[str, Any]]) -> Row:
    """Medians of a cell's records."""
    speeds = [record["words_per_second"] for record in records]
    last = records[-1]
    return Row(
        cell,
        len(records),
        last["batch_size_per_replica"],
        last["timed_batches"],
        statistics.median(record["timed_seconds"] for record in records),
        statistics.median(speeds),
        min(speeds),
        max(speeds),
        last["exchange_bytes_per_step"],
        statistics.median(record["peak_memory_bytes"] for record in records) / 2**20,
        statistics.median(record["seconds_to_first_step"] for record in records),
        last["device"],
        last["exchange"],
    )


def make_phases(runs: Sequence[Run]) -> dict[Cell, dict[str, float]]:
    """Seconds of each phase and of the step, means of a cell's replicas and rounds.

    Only of cells where they were measured.
    """
    found: dict[Cell, list[dict[str, float]]] = {}
    for run in runs:
        measured = (run.record or {}).get("phase_seconds")
        if measured:
            means = {phase: statistics.mean(of) for phase, of in measured["replicas"].items()}
            whole = {"input wait": measured["input_wait"], **means, "step": measured["step"]}
            found.setdefault(run.cell, []).append(whole)
    return {
        cell: {phase: statistics.mean(one[phase] for one in several) for phase in several[0]}
        for cell, several in found.items()
    }


def speedup(row: Row, rows: dict[Cell, Row]) -> float | None:
    """Words/s as a multiple of one replica's with the same batch for each replica."""
    return of(row, rows.get(replace(row.cell, num_replicas=1)))


def of_one_replica(row: Row, rows: dict[Cell, Row]) -> float | None:
    """Words/s as a share of a single replica's that has the whole global batch."""
    return of(row, rows.get(Cell(ONE_REPLICA, row.cell.encoder_type, row.cell.num_replicas)))


def of_independent(row: Row, rows: dict[Cell, Row]) -> float | None:
    """Words/s as a share of what replicas reach that exchange nothing."""
    return of(row, rows.get(Cell("independent", row.cell.encoder_type, row.cell.num_replicas)))


def of(row: Row, other: Row | None) -> float | None:
    """Words/s as a share of another row's."""
    return row.words_per_s / other.words_per_s if other else None


RATIOS = {
    "speedup": speedup,
    "of_one_replica": of_one_replica,
    "of_independent": of_independent,
}


def ratios(row: Row, rows: dict[Cell, Row]) -> dict[str, float | None]:
    """What a row is of others."""
    return {name: ratio(row, rows) for name, ratio in RATIOS.items()}


def to_records(rows: dict[Cell, Row]) -> list[dict[str, Any]]:
    """All rows for JSON."""
    return [row._asdict() | {"cell": asdict(row.cell)} | ratios(row, rows) for row in rows.values()]
