"""Trains the demo model on shuffled targets, to show that its BLEU measures learning.

    .venv/bin/python scripts/control_shuffled_targets.py [more train.py flags]

Fluent German can still be learned from such a corpus, translating cannot: BLEU stays low.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from input_pipeline.corpus import Pair
from nmt import flags
from nmt.machine import environment


def shuffle_targets(pairs: list[Pair], seed: int) -> list[Pair]:
    """Gives every source some other pair's target."""
    targets = [pair.target for pair in pairs]
    random.Random(seed).shuffle(targets)
    return [Pair(pair.source, target) for pair, target in zip(pairs, targets)]


def main() -> None:
    """Trains with the demo preset; the test split stays as it is."""
    preset = Path(__file__).resolve().parent.parent / "presets" / "demo.flags"
    config, problems = flags.parse([f"--flagfile={preset}", *sys.argv[1:]])
    if problems:
        sys.exit("\n".join(problems))
    environment.prepare(config.run.verbosity)
    from input_pipeline.demo.corpus import generate
    from input_pipeline.sources import from_splits
    from input_pipeline.training_data import Request, TrainingData
    from nmt.run import run

    def shuffled(request: Request) -> TrainingData:
        splits = generate()
        splits = splits._replace(train=shuffle_targets(splits.train, seed=7))
        return from_splits("demo with SHUFFLED targets", splits, request)

    run(config, {"demo": shuffled})


if __name__ == "__main__":
    main()
