"""Trains the demo model on shuffled targets, to show that its BLEU measures learning.

    .venv/bin/python scripts/control_shuffled_targets.py [more train.py flags]

Fluent German can still be learned from such a corpus, translating cannot: BLEU stays low.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from input_pipeline.choice import dataset_of
from input_pipeline.corpus import Pair
from nmt import checks, flags, programs
from nmt.config import TrainConfig
from nmt.errors import UserError

PRESET: Final = Path(__file__).resolve().parent.parent / "presets" / "demo.flags"
PROGRAM: Final = flags.Program(
    "control_shuffled_targets.py",
    "trains as presets/demo.flags says, but on shuffled targets",
    TrainConfig,
)


def shuffle_targets(pairs: list[Pair], seed: int) -> list[Pair]:
    """Gives every source some other pair's target."""
    targets = [pair.target for pair in pairs]
    random.Random(seed).shuffle(targets)
    return [Pair(pair.source, target) for pair, target in zip(pairs, targets)]


def find_problems(config: TrainConfig) -> list[str]:
    """All reasons it cannot run on any machine."""
    if (dataset := dataset_of(config.data)) != "demo":
        return [f"--dataset={dataset} is not shuffled here, only demo is; leave it out"]
    return checks.find_problems(config)


def train(config: TrainConfig) -> None:
    """Trains; the test split stays as it is."""
    from input_pipeline.demo.corpus import generate
    from input_pipeline.sources import from_splits
    from input_pipeline.training_data import Request, TrainingData
    from nmt.run import run

    def shuffled(request: Request) -> TrainingData:
        splits = generate()
        splits = splits._replace(train=shuffle_targets(splits.train, seed=7))
        return from_splits("demo with SHUFFLED targets", splits, request)

    if problems := checks.find_device_problems(config):
        raise UserError("; ".join(problems))
    run(config, {"demo": shuffled})


def main(argv: Sequence[str]) -> int:
    """Trains with the demo preset; gives the exit code."""
    return programs.main(PROGRAM, [f"--flagfile={PRESET}", *argv], find_problems, train)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
