"""Writes what train.py would train: its batches and the weights it begins with, for others to take.

.venv/bin/python -m benchmarks.workload work.npz [train.py's flags]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.command_line import REST, Parser
from nmt import programs
from nmt.config import TrainConfig
from nmt.errors import UserError
from nmt.machine import environment


def main(argv: Sequence[str]) -> None:
    """Takes train.py's flags; the first argument names the file."""
    parser = Parser("python -m benchmarks.workload", __doc__, epilog=REST)
    parser.add_argument("path", help="file to write, .npz")
    given, rest = parser.parse_known_args(argv)
    config = parser.train_config(rest)
    environment.prepare(config.run.verbosity)
    try:
        arrays = arrays_of(config)
        np.savez(given.path, **arrays)  # type: ignore[arg-type]  # its types take no dictionary
    except (UserError, OSError) as error:
        parser.refuse(programs.one_line(error))


def arrays_of(config: TrainConfig) -> dict[str, np.ndarray]:
    """All arrays by their names; weights have the names of the variables."""
    from input_pipeline.choice import dataset_of
    from input_pipeline.sources import SOURCES
    from input_pipeline.training_data import Request
    from nmt.network.model import make_model
    from nmt.network.weights import VocabularySizes, initial_value

    data = SOURCES[dataset_of(config.data)](Request(config.data, ["CPU:0"], 0, config.run.seed))
    count = config.run.num_warmup_batches + config.run.num_batches
    arrays = {
        "num_batches": np.array(count),
        "vocabulary_sizes": np.array(data.vocabulary_sizes),
    }
    for number, (batch,) in zip(range(count), data.batches_from(0)):
        for name, part in zip(("source", "source_lengths", "target", "target_lengths"), batch):
            arrays[f"{name}_{number}"] = part.numpy()
    model = make_model(config.model, VocabularySizes(*data.vocabulary_sizes), "CPU")
    for index, spec in enumerate(model.flat_specs):
        arrays[f"weights/{spec.name}"] = initial_value(spec, config.run.seed, index).numpy()
    return arrays


if __name__ == "__main__":
    main(sys.argv[1:])
