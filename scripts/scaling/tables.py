"""Tables: those of the reports this project comes from, and all strategies beside each other."""

from __future__ import annotations

import csv
import io

from scaling.cells import ONE_REPLICA, Cell
from scaling.rows import RATIOS, Row, of_independent, of_one_replica, ratios, speedup


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
        "|Encoder|Replicas|Strategy|words/s (median)|range|rounds|of independent|of one replica|"
        "peak host memory (MiB)|to the first step (s)|",
        "|:--|:--|:--|:--|:--|:--|:--|:--|:--|:--|",
    ]
    for row in sorted(rows.values(), key=lambda r: (r.cell.encoder_type, -r.cell.num_replicas)):
        cell, alone = row.cell, row.cell.variable_update == ONE_REPLICA
        name = f"{cell.name} of {row.batch_size}" if alone else cell.name
        lines.append(
            f"|{cell.encoder_type}|{cell.num_replicas}|{name}|{row.words_per_s:,.0f}|"
            f"{row.low:,.0f} to {row.high:,.0f}|{row.rounds}|{shown(of_independent(row, rows))}|"
            f"{shown(of_one_replica(row, rows))}|{row.peak_memory_mib:,.0f}|"
            f"{row.to_first_step_s:.1f}|"
        )
    return "\n".join(lines)


def headlines(rows: dict[Cell, Row]) -> list[str]:
    """The scaling number of each strategy and encoder: its share of the same work in one."""
    most: dict[tuple[str, str], Row] = {}
    for row in sorted(rows.values(), key=lambda row: row.cell.num_replicas):
        if row.cell.variable_update != ONE_REPLICA:
            most[row.cell.name, row.cell.encoder_type] = row
    return [
        f"{name}, {encoder}: {row.cell.num_replicas} replicas reach {ratio:.2f} of one replica "
        f"with the same work ({row.exchange})"
        for (name, encoder), row in most.items()
        if (ratio := of_one_replica(row, rows)) is not None
    ]


def to_csv(rows: dict[Cell, Row]) -> str:
    """All rows, one a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    measured = Row._fields[1:]
    writer.writerow(["strategy", "encoder_type", "num_replicas", *measured, *RATIOS])
    for cell, row in rows.items():
        key = [cell.name, cell.encoder_type, cell.num_replicas]
        writer.writerow([*key, *row[1:], *ratios(row, rows).values()])
    return text.getvalue()
