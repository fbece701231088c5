"""report.html: tables and plots in one file that needs nothing beside it."""

from __future__ import annotations

import html
from collections.abc import Sequence

from scaling import published
from scaling.cells import Cell
from scaling.plots import phases_plot, plots
from scaling.rows import Row
from scaling.runs import Run
from scaling.tables import comparison, headlines, table

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; } td, th { border: 1px solid #bbb; padding: .2em .6em; }
td { text-align: right; } svg { max-width: 100%; height: auto; } .failed { color: #a00; }
"""
ON_CPU = (
    "There is no GPU here: all replicas share the same cores, so more of them cannot be faster. "
    "Ideal is flat: N replicas of B sentences should reach the words/s of one replica of N x B. "
    "The plot Same work shows that share. It tells what replicas, exchange and updates cost; "
    "it cannot tell how fast a link between GPUs is, "
    "nor how well exchange hides behind computation there."
)


def html_table(text: str) -> str:
    """A Markdown table as HTML."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if not line.startswith("|:")]
    rows = []
    for number, cells in enumerate(lines):
        tag = "td" if number else "th"
        rows.append("".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def make_report(
    rows: dict[Cell, Row],
    failed: Sequence[Run],
    command: str,
    phases: dict[Cell, dict[str, float]] | None = None,
) -> str:
    """The whole page."""
    devices = sorted({row.device for row in rows.values()})
    parts = ["<h1>Scaling</h1>", f"<p>{html.escape(', '.join(devices))}</p>"]
    parts.append(f"<p><code>{html.escape(command)}</code></p>")
    if not any(device.startswith("GPU") for device in devices):
        parts.append(f"<p>{html.escape(ON_CPU)}</p>")
    parts.append(f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in headlines(rows))}</ul>")
    for run in failed:
        parts.append(f'<p class="failed">{html.escape(f"{run.cell}: {run.error}")}</p>')
    for name, encoder in dict.fromkeys((c.name, c.encoder_type) for c in rows):
        parts.append(f"<h2>{html.escape(name)}, {html.escape(encoder)}</h2>")
        parts.append(html_table(table(name, encoder, rows)))
    parts += ["<h2>Beside each other</h2>", html_table(comparison(rows))]
    parts += ["<h2>Plots</h2>", *plots(rows)]
    parts += [phases_plot(phases)] if phases else []
    parts.append(f"<p>Published curves: {html.escape(published.SOURCE)}.</p>")
    head = f'<meta charset="utf-8"><title>Scaling</title><style>{STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{''.join(parts)}</body></html>\n"
