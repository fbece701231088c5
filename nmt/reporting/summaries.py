"""Numbers and texts for TensorBoard, in event files that core TensorFlow writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import tensorflow as tf

from nmt.errors import reason
from nmt.judging.evaluation import Evaluation
from nmt.judging.history import Score
from nmt.measuring.throughput import Window

DIRECTORY: Final = "tensorboard"
NUM_SAMPLES: Final = 5
LARGEST: Final = float(np.finfo(np.float32).max)


class Summaries:
    """One run's event file; where it cannot be written, the run goes on without."""

    def __init__(self, output_dir: Path) -> None:
        self.place = output_dir / DIRECTORY
        self.writer: Any = None
        self.attempt(self.open)

    def open(self) -> None:
        """Begins a file."""
        self.writer = tf.summary.create_file_writer(str(self.place))

    def attempt(self, write: Callable[[], None]) -> None:
        """Writes something; the first failure is said, and nothing is written after it."""
        try:
            write()
        except (OSError, tf.errors.OpError) as error:
            self.writer = None
            print(
                f"train.py: {self.place} cannot be written: {reason(error)}; training goes on "
                "without it",
                file=sys.stderr,
                flush=True,
            )

    def progress(self, step: int, window: Window, rate: float) -> None:
        """The averages of some steps."""
        self.scalars(
            step,
            {
                "train/loss": window.loss,
                "train/words_per_second": window.words_per_s,
                "train/learning_rate": rate,
                "train/gradient_norm": window.gradient_norm,
                "train/skipped_steps": sum(one.num_skipped for one in window.steps),
            },
        )

    def look(self, score: Score, evaluation: Evaluation) -> None:
        """A look at the dev set, with some translations."""
        names = ("loss", "perplexity", "bleu", "chrf")
        self.scalars(score.step, {f"dev/{name}": getattr(score, name) for name in names})
        text = tf.constant([samples(evaluation)])
        self.write(score.step, {"dev/translations": text}, "text")

    def phases(self, step: int, seconds: Mapping[str, float]) -> None:
        """Where a step's time goes."""
        self.scalars(step, {f"phases/{name}": value for name, value in seconds.items()})

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Some numbers; what is none, or too large for the file, is left out."""
        numbers = {name: value for name, value in values.items() if abs(value) <= LARGEST}
        # From arrays: a number of Python's is kept by TensorFlow for ever, each different one.
        tensors = {
            name: tf.constant(np.array(value, np.float32)) for name, value in numbers.items()
        }
        self.write(step, tensors, "scalars")

    def write(self, step: int, values: Mapping[str, tf.Tensor], plugin: str) -> None:
        """Some values for one of TensorBoard's pages."""

        at = tf.constant(np.array(step, np.int64))

        def write() -> None:
            with self.writer.as_default():
                for name, value in values.items():
                    tf.summary.write(name, value, step=at, metadata=metadata(plugin))
            self.writer.flush()

        if self.writer is not None:
            self.attempt(write)

    def close(self) -> None:
        """Writes what is left."""
        if self.writer is not None:
            self.attempt(self.writer.close)


def metadata(plugin: str) -> tf.compat.v1.SummaryMetadata:
    """Tells TensorBoard which of its pages a value is for."""
    return tf.compat.v1.SummaryMetadata(
        plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name=plugin)
    )


def samples(evaluation: Evaluation) -> str:
    """Some translations as a Markdown table; TensorBoard takes out what is no Markdown."""
    rows = ["|Source|Translation|Reference|", "|:--|:--|:--|"]
    for pair, translation in list(zip(evaluation.pairs, evaluation.translations))[:NUM_SAMPLES]:
        cells = (text.replace("|", "\\|") for text in (pair.source, translation, pair.target))
        rows.append(f"|{'|'.join(cells)}|")
    said = f"BLEU is {evaluation.signature}, chrF {evaluation.chrf_signature}"
    return "\n".join([*rows, "", said.replace("|", "\\|")])
