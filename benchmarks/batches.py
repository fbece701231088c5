"""Writes the batches that train.py would train on, so that others train on the same ones.

.venv/bin/python -m benchmarks.batches batches.npz [train.py's flags]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from nmt import environment, flags


def main(argv: Sequence[str]) -> None:
    """Takes train.py's flags; the first argument names the file."""
    path, *rest = argv
    config, problems = flags.parse(rest)
    if problems:
        sys.exit("\n".join(problems))
    environment.prepare(config.run.verbosity)
    from input_pipeline.choice import dataset_of
    from input_pipeline.sources import SOURCES
    from input_pipeline.training_data import Request

    data = SOURCES[dataset_of(config.data)](Request(config.data, ["CPU:0"], 0, config.run.seed))
    count = config.run.num_warmup_batches + config.run.num_batches
    arrays: dict[str, np.ndarray] = {
        "num_batches": np.array(count),
        "vocabulary_sizes": np.array(data.vocabulary_sizes),
    }
    for number, (batch,) in zip(range(count), data.batches_from(0)):
        for name, part in zip(("source", "source_lengths", "target", "target_lengths"), batch):
            arrays[f"{name}_{number}"] = part.numpy()
    np.savez(path, **arrays)  # type: ignore[arg-type]  # numpy's own types take no dictionary


if __name__ == "__main__":
    main(sys.argv[1:])
