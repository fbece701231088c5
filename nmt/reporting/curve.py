"""The learning curve of a run as a picture."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Final

from nmt.judging.history import History

NAME: Final = "learning_curve.png"


def draw(history: History, path: Path) -> None:
    """Draws it and lets its memory go."""
    draw_looks(history, path)
    gc.collect()  # a picture's parts hold each other: tens of megabytes would wait for a while


def draw_looks(history: History, path: Path) -> None:
    """Losses to the left, BLEU to the right, the best look marked."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    best = history.best
    if best is None:
        return
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    losses = figure.add_subplot()
    steps = [score.step for score in history.scores]
    losses.plot(steps, [s.train_loss for s in history.scores], "C7", label="training loss")
    losses.plot(steps, [score.loss for score in history.scores], "C0", label="dev loss")
    losses.set(xlabel="steps", ylabel="loss per target token")
    bleu = losses.twinx()
    bleu.plot(steps, [score.bleu for score in history.scores], "C1", label="dev BLEU")
    bleu.plot(best.step, best.bleu, "C1o", label=f"best: {best.bleu:.2f} at step {best.step:,}")
    bleu.set_ylabel("BLEU")
    bleu.set_ylim(bottom=0)
    lines = [*losses.get_lines(), *bleu.get_lines()]
    losses.legend(lines, [str(line.get_label()) for line in lines], loc="center right")
    figure.savefig(path, dpi=120)
