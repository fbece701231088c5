"""Medians of what was measured, as the tables of the reports this project comes from."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import replace
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
    first_step_s: float
    device: str


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
        statistics.median(record["first_step_seconds"] for record in records),
        last["device"],
    )


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


def shown(ratio: float | None) -> str:
    """A ratio in a table."""
    return "" if ratio is None else f"{ratio:.2f}"


def table(name: str, encoder: str, rows: dict[Cell, Row]) -> str:
    """A strategy's table, one row for each number of replicas."""
    mine = [row for cell, row in rows.items() if (cell.name, cell.encoder_type) == (name, encoder)]
    if not mine:
        return ""
    mine.sort(key=lambda row: row.cell.num_replicas)
    first = "GPU number" if mine[0].device.startswith("GPU") else "Replicas"
    first = "Batches in one" if name == ONE_REPLICA else first
    lines = [
        f"|{first}|Batch size|Total time to process {mine[0].timed_batches} batches (s)|"
        "Processing speed (words/s)|Speedup ratio|",
        "|:--|:--|:--|:--|:--|",
    ]
    for row in mine:
        ratio = speedup(row, rows) if row.cell.num_replicas > 1 else None
        lines.append(
            f"|{row.cell.num_replicas}|{row.batch_size}|{row.seconds:.3f}|{row.words_per_s:.3f}|"
            f"{shown(ratio)}|"
        )
    return "\n".join(lines)


def comparison(rows: dict[Cell, Row]) -> str:
    """All strategies beside each other, the most replicas first."""
    lines = [
        "|Encoder|Replicas|Strategy|words/s (median)|range|of independent|of one replica|"
        "peak memory (MiB)|first step (s)|",
        "|:--|:--|:--|:--|:--|:--|:--|:--|:--|",
    ]
    for row in sorted(rows.values(), key=lambda r: (r.cell.encoder_type, -r.cell.num_replicas)):
        cell, alone = row.cell, row.cell.variable_update == ONE_REPLICA
        name = f"{cell.name} of {row.batch_size}" if alone else cell.name
        lines.append(
            f"|{cell.encoder_type}|{cell.num_replicas}|{name}|{row.words_per_s:,.0f}|"
            f"{row.low:,.0f} to {row.high:,.0f}|{shown(of_independent(row, rows))}|"
            f"{shown(of_one_replica(row, rows))}|{row.peak_memory_mib:,.0f}|{row.first_step_s:.1f}|"
        )
    return "\n".join(lines)


def to_csv(rows: dict[Cell, Row]) -> str:
    """All rows, one a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    measured = Row._fields[1:]
    writer.writerow(
        ["strategy", "encoder_type", "num_replicas", *measured, "speedup", "of_one_replica"]
    )
    for cell, row in rows.items():
        key = [cell.name, cell.encoder_type, cell.num_replicas]
        writer.writerow([*key, *row[1:], speedup(row, rows), of_one_replica(row, rows)])
    return text.getvalue()
