"""Plots as SVG, which a page can hold."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scaling import published
from scaling.cells import ENCODERS, ONE_REPLICA, STRATEGIES, Cell
from scaling.rows import Row, of_one_replica, speedup

Value = Callable[[Row], "float | None"]
Draw = Callable[[Axes], None]


COLORS = {ONE_REPLICA: "C7", **{name: f"C{number}" for number, name in enumerate(STRATEGIES)}}
STYLES = dict(zip(ENCODERS, ("-", ":")))
MARKERS = "osD^v<>"


def lines(rows: Sequence[Row], value: Value) -> Draw:
    """One line for each strategy and encoder over the number of replicas."""
    points: dict[Cell, list[tuple[int, float]]] = {}
    for row in rows:
        found = value(row)
        if found is not None:
            points.setdefault(replace(row.cell, num_replicas=1), []).append(
                (row.cell.num_replicas, found)
            )
    specs = list(dict.fromkeys(cell.all_reduce_spec for cell in points))

    def draw(axes: Axes) -> None:
        for cell, several in points.items():
            axes.plot(
                *zip(*sorted(several)),
                color=COLORS[cell.variable_update],
                linestyle=STYLES[cell.encoder_type],
                marker=MARKERS[specs.index(cell.all_reduce_spec) % len(MARKERS)],
                label=f"{cell.name}, {cell.encoder_type}",
            )

    return draw


def ideal(counts: Sequence[int], first: float, gpu: bool) -> Draw:
    """The line that perfect scaling follows: straight up with GPUs, flat where cores are shared."""

    def draw(axes: Axes) -> None:
        last = max(counts, default=1)
        axes.plot([1, last], [first, first * last if gpu else first], "k--", label="ideal")

    return draw


def published_lines(speedups: bool) -> Draw:
    """The published curves of 1 to 8 GPUs."""

    def draw(axes: Axes) -> None:
        for (strategy, encoder), speeds in published.WORDS_PER_S.items():
            values = [speed / speeds[0] for speed in speeds] if speedups else speeds
            axes.plot(range(1, 9), values, marker=".", label=f"{strategy}, {encoder}")

    return draw


def plot(title: str, unit: str, panels: Mapping[str, Sequence[Draw]]) -> str:
    """Panels beside each other, each with its own lines."""
    figure, all_axes = plt.subplots(1, len(panels), figsize=(6.5 * len(panels), 4), squeeze=False)
    for axes, (name, draws) in zip(all_axes[0], panels.items()):
        for draw in draws:
            draw(axes)
        axes.set(title=f"{title}: {name}" if name else title, xlabel="replicas", ylabel=unit)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return to_svg(figure)


def to_svg(figure: Figure) -> str:
    """A figure as it stands in a page."""
    text = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(text, format="svg", bbox_inches="tight", metadata=nothing)
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]


def stacked(cells: Sequence[dict[str, float]]) -> Iterator[tuple[str, list[float], list[float]]]:
    """Each phase, where its part of every cell's bar begins, and how long the parts are."""
    begins = [0.0] * len(cells)
    for phase in cells[0]:
        if phase != "step":
            seconds = [measured[phase] for measured in cells]
            yield phase, begins, seconds
            begins = [begin + more for begin, more in zip(begins, seconds)]


def phases_plot(phases: dict[Cell, dict[str, float]]) -> str:
    """One bar for each cell, with a mark where its step ends.

    Weights are read while a batch is transferred, and input is waited for before a step, so that a
    bar can exceed it.
    """
    figure, axes = plt.subplots(figsize=(7, 1 + 0.3 * len(phases)))
    names = [str(cell) for cell in phases]
    for phase, begins, seconds in stacked(list(phases.values())):
        axes.barh(names, seconds, left=begins, label=phase)
    steps = [measured["step"] for measured in phases.values()]
    axes.plot(steps, names, "k|", markersize=16, label="step")
    axes.set(title="Phases", xlabel="s a step, mean of replicas")
    axes.invert_yaxis()
    axes.legend(fontsize=8)
    return to_svg(figure)


def plots(rows: dict[Cell, Row]) -> list[str]:
    """All plots of what was measured, the published curves beside them."""
    mine = [row for cell, row in rows.items() if cell.variable_update != ONE_REPLICA]
    counts = [row.cell.num_replicas for row in mine]
    gpu = any(row.device.startswith("GPU") for row in mine)
    single = [row.words_per_s for row in mine if row.cell.num_replicas == 1]
    # Without GPUs the line of one replica with the same work is what all should reach.
    speed_ideal = [ideal(counts, max(single), gpu)] if single and gpu else []
    speed = {
        "measured here": [lines(list(rows.values()), lambda r: r.words_per_s), *speed_ideal],
        "published, 1 to 8 GPUs": [published_lines(False)],
    }
    up = {
        "measured here": [lines(mine, lambda r: speedup(r, rows)), ideal(counts, 1.0, gpu)],
        "published, 1 to 8 GPUs": [published_lines(True), ideal([8], 1.0, gpu=True)],
    }
    share = [lines(mine, lambda r: of_one_replica(r, rows)), ideal(counts, 1.0, gpu=False)]
    return [
        plot("Speed", "words/s", speed),
        plot("Speedup", "times one replica", up),
        plot("Same work", "share of one replica", {"": share}),
        plot("Time", "s a step", {"": [lines(mine, lambda r: r.seconds / r.timed_batches)]}),
        plot("Exchange", "MiB a step", {"": [lines(mine, lambda r: r.exchange_bytes / 2**20)]}),
        plot("Memory of the host", "MiB at most", {"": [lines(mine, lambda r: r.peak_memory_mib)]}),
    ]


def summary_plot(rows: dict[Cell, Row]) -> str:
    """Speed and the share of the same work in one, for a document."""
    mine = [row for cell, row in rows.items() if cell.variable_update != ONE_REPLICA]
    counts = [row.cell.num_replicas for row in mine]
    panels = {
        "words/s": [lines(list(rows.values()), lambda r: r.words_per_s)],
        "share of one replica with the same work": [
            lines(mine, lambda r: of_one_replica(r, rows)),
            ideal(counts, 1.0, gpu=False),
        ],
    }
    return plot("Replicas", "", panels)
