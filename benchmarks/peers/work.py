"""What all peers share: batches and weights from a file, a clock, one line of JSON.

It runs in every peer's environment, so it needs numpy alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

BOS = 1
NAMES = ("source", "source_lengths", "target", "target_lengths")
WEIGHTS = "weights/"


class Batch(NamedTuple):
    """Ids padded with zeros, sentences first; what `benchmarks.workload` wrote."""

    source: np.ndarray
    source_lengths: np.ndarray
    target: np.ndarray
    target_lengths: np.ndarray

    @property
    def num_words(self) -> int:
        """Real ids of both sides, </s> included, as train.py counts them."""
        return int(self.source_lengths.sum() + self.target_lengths.sum())


class Work(NamedTuple):
    """What there is to train on, and how."""

    batches: list[Batch]
    weights: dict[str, np.ndarray]  # to begin with, by the names of our variables
    vocabulary_sizes: tuple[int, int]
    num_warmup: int
    units: int
    layers: int
    threads: int
    packed: bool
    bfloat16: bool


def parse() -> Work:
    """Reads the command line."""
    flags = argparse.ArgumentParser()
    flags.add_argument("file")
    flags.add_argument("--num_warmup_batches", type=int, default=3)
    flags.add_argument("--threads", type=int, default=2)
    flags.add_argument("--num_units", type=int, default=512)
    flags.add_argument("--num_layers", type=int, default=4)
    flags.add_argument("--packed", action="store_true")
    flags.add_argument("--bfloat16", action="store_true")
    given = flags.parse_args()
    with np.load(given.file) as file:
        sizes = [int(size) for size in file["vocabulary_sizes"]]
        batches = list(read(file))
        names = (name for name in file.files if name.startswith(WEIGHTS))
        weights = {name.removeprefix(WEIGHTS): file[name] for name in names}
    return Work(
        batches,
        weights,
        (sizes[0], sizes[1]),
        given.num_warmup_batches,
        given.num_units,
        given.num_layers,
        given.threads,
        given.packed,
        given.bfloat16,
    )


def read(file: np.lib.npyio.NpzFile) -> Iterator[Batch]:
    """All batches of a file, in their order."""
    for number in range(int(file["num_batches"])):
        yield Batch(*(file[f"{name}_{number}"] for name in NAMES))


def layer_weights(work: Work, stack: str, layer: int, way: str = "forward") -> list[np.ndarray]:
    """One direction's kernel, recurrent weights and bias.

    Gates stand in the order input, forget, candidate, output, as in PyTorch and Keras.
    """
    parts = ("kernel", "recurrent", "bias")
    return [work.weights[f"{stack}/layer_{layer}/{way}/{part}"] for part in parts]


def run(work: Work, step: Callable[[int], float], **more: object) -> None:
    """Trains on every batch by its number; prints the speed after the warm-up, and the losses."""
    losses, begun = [], 0.0
    for number in range(len(work.batches)):
        if number == work.num_warmup:
            begun = time.perf_counter()
        losses.append(step(number))
    seconds = time.perf_counter() - begun
    words = sum(batch.num_words for batch in work.batches[work.num_warmup :])
    result = {"words_per_second": words / seconds, "timed_words": words, "losses": losses}
    print(json.dumps({**result, **more}))
