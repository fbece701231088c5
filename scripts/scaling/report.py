"""report.html: tables and plots in one file that needs nothing beside it."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from scaling import published
from scaling.cells import ONE_REPLICA, Cell
from scaling.runs import Run
from scaling.tables import Row, comparison, of_one_replica, speedup, table

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; } td, th { border: 1px solid #bbb; padding: .2em .6em; }
td { text-align: right; } svg { max-width: 100%; height: auto; } .failed { color: #a00; }
"""
ON_CPU = (
    "There is no GPU here: all replicas share the same cores, so more of them cannot be faster. "
    "Ideal is flat: N replicas of B sentences should reach the words/s of one replica of N x B. "
    "The last plot shows that share. It tells what replicas, exchange and updates cost; it cannot "
    "tell how fast a link between GPUs is, nor how well exchange hides behind computation there."
)

Value = Callable[[Row], "float | None"]


def line_plot(
    title: str, unit: str, rows: Sequence[Row], value: Value, draw_more: Callable[[Axes], None]
) -> str:
    """One line for each strategy and encoder over the number of replicas."""
    figure, axes = plt.subplots(figsize=(7, 4))
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        found = value(row)
        if found is not None:
            name = f"{row.cell.name}, {row.cell.encoder_type}"
            lines.setdefault(name, []).append((row.cell.num_replicas, found))
    for name, points in lines.items():
        axes.plot(*zip(*sorted(points)), marker="o", label=name)
    draw_more(axes)
    axes.set(title=title, xlabel="replicas", ylabel=unit)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    text = io.StringIO()
    figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]


def ideal(rows: Sequence[Row], gpu: bool) -> Callable[[Axes], None]:
    """The line that perfect scaling would follow."""

    def draw(axes: Axes) -> None:
        counts = sorted({row.cell.num_replicas for row in rows})
        axes.plot(counts, counts if gpu else [1] * len(counts), "k--", label="ideal")

    return draw


def nothing(axes: Axes) -> None:
    """Adds no line."""
    del axes


def published_plot() -> str:
    """The published speedups."""

    def draw(axes: Axes) -> None:
        for (strategy, encoder), speeds in published.WORDS_PER_S.items():
            ratios = [speed / speeds[0] for speed in speeds]
            axes.plot(range(1, 9), ratios, marker=".", label=f"{strategy}, {encoder}")
        axes.plot(range(1, 9), range(1, 9), "k--", label="ideal")

    return line_plot("Published: 1 to 8 GPUs", "speedup", [], lambda row: None, draw)


def plots(rows: dict[Cell, Row]) -> list[str]:
    """All plots of what was measured."""
    mine = [row for cell, row in rows.items() if cell.variable_update != ONE_REPLICA]
    gpu = any(row.device.startswith("GPU") for row in mine)
    flat = ideal(mine, gpu=False)
    return [
        line_plot("Speed", "words/s", list(rows.values()), lambda row: row.words_per_s, nothing),
        line_plot(
            "Speedup", "times one replica", mine, lambda r: speedup(r, rows), ideal(mine, gpu)
        ),
        line_plot("Time", "s a step", mine, lambda row: row.seconds / row.timed_batches, nothing),
        line_plot("Exchange", "MiB a step", mine, lambda r: r.exchange_bytes / 2**20, nothing),
        line_plot("Memory", "MiB at most", mine, lambda r: r.peak_memory_mib, nothing),
        line_plot("Same work", "of one replica", mine, lambda r: of_one_replica(r, rows), flat),
    ]


def html_table(text: str) -> str:
    """A Markdown table as HTML."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if not line.startswith("|:")]
    rows = []
    for number, cells in enumerate(lines):
        tag = "td" if number else "th"
        rows.append("".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def make_report(rows: dict[Cell, Row], failed: Sequence[Run], command: str) -> str:
    """The whole page."""
    devices = sorted({row.device for row in rows.values()})
    parts = ["<h1>Scaling</h1>", f"<p>{html.escape(', '.join(devices))}</p>"]
    parts.append(f"<p><code>{html.escape(command)}</code></p>")
    if not any(device.startswith("GPU") for device in devices):
        parts.append(f"<p>{html.escape(ON_CPU)}</p>")
    for run in failed:
        parts.append(f'<p class="failed">{html.escape(f"{run.cell}: {run.error}")}</p>')
    for name, encoder in dict.fromkeys((c.name, c.encoder_type) for c in rows):
        parts.append(f"<h2>{html.escape(name)}, {html.escape(encoder)}</h2>")
        parts.append(html_table(table(name, encoder, rows)))
    parts += ["<h2>Beside each other</h2>", html_table(comparison(rows))]
    parts += ["<h2>Plots</h2>", *plots(rows), "<h2>Published</h2>", published_plot()]
    parts.append(f"<p>Source: {html.escape(published.SOURCE)}.</p>")
    head = f'<meta charset="utf-8"><title>Scaling</title><style>{STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{''.join(parts)}</body></html>\n"
