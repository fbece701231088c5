"""Numbers and texts for TensorBoard, in event files that core TensorFlow writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import tensorflow as tf

from nmt.evaluation import Evaluation
from nmt.history import Score
from nmt.throughput import Window

DIRECTORY: Final = "tensorboard"
NUM_SAMPLES: Final = 5


class Summaries:
    """One run's event file."""

    def __init__(self, output_dir: Path) -> None:
        self.writer = tf.summary.create_file_writer(str(output_dir / DIRECTORY))

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
        self.text(score.step, "dev/translations", samples(evaluation))
        self.writer.flush()

    def phases(self, step: int, seconds: Mapping[str, float]) -> None:
        """Where a step's time goes."""
        self.scalars(step, {f"phases/{name}": value for name, value in seconds.items()})

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Some numbers."""
        with self.writer.as_default():
            for name, value in values.items():
                number = tf.constant(value, tf.float32)
                tf.summary.write(name, number, step=step, metadata=metadata("scalars"))

    def text(self, step: int, name: str, text: str) -> None:
        """Some Markdown."""
        with self.writer.as_default():
            tf.summary.write(name, tf.constant([text]), step=step, metadata=metadata("text"))

    def close(self) -> None:
        """Writes what is left."""
        self.writer.close()


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
    return "\n".join(rows)
