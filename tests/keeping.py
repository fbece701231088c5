"""Small runs with a keeper, for tests of what it shows and what it saves."""

from pathlib import Path

from input_pipeline.corpus import Pair
from input_pipeline.training_data import TrainingData
from nmt.config import RunConfig, TrainConfig
from nmt.interrupt import signals_noted
from nmt.judging.dev import DevSet, Look
from nmt.judging.evaluation import Evaluation
from nmt.judging.history import History
from nmt.keeper import Keeper
from nmt.loop import train_loop
from nmt.measuring.throughput import Meter
from nmt.occasions import Schedule
from nmt.reporting.reporter import Reporter
from nmt.setup import Setup
from nmt.storage import checkpoints, model_dir
from tests import small
from tests.nmt.search.test_translation import SOURCE, TARGET

BATCH = (small.batch([5, 1, 3], [2, 6, 4]),)
DEV = [Pair("s1 s2", "t1 t2 t3"), Pair("s3", "t4")]


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def data(dev=DEV):
    return TrainingData(
        {}, lambda _: [BATCH] * 99, None, small.SIZES, (SOURCE, TARGET), dev, [], True, 0.0
    )._replace(batches_per_epoch=10)


def setup_of(num_batches=6, step=0, **run):
    trainer = small.trainer()
    trainer.step.assign(step)
    config = TrainConfig(run=RunConfig(**run))
    schedule = Schedule(num_warmup=0, num_batches=num_batches, log_every=100)
    return Setup(config, data(), trainer, schedule, None, step, History())


def train(setup, clock=None):
    meter = Meter(0)
    kept = Keeper(setup, meter, clock or Clock())
    batches, schedule = setup.data.batches_from(0), setup.schedule
    skips = setup.config.run.skip_nan_steps
    with (
        Reporter(meter, schedule.num_batches, kept.rate, skips=skips, bar=False) as out,
        signals_noted() as interrupt,
    ):
        ending = train_loop(setup.trainer, batches, schedule, out, kept, interrupt)
    kept.finish(len(meter.losses))
    kept.close()
    return kept, ending


def names(root):
    return sorted(path.name for path in root.iterdir() if path.name.startswith("step-"))


def scores_of(monkeypatch, *bleus):
    """Looks that find what a test wants them to."""
    left = list(bleus)

    def look(self, safe_point):
        return Look(1.0, Evaluation(DEV, ["t1", "t2"], "greedy", left.pop(0), "", 1.0, ""))

    monkeypatch.setattr(DevSet, "look", look)


def again(before, **changes):
    """The setup of a run that goes on from the newest checkpoint."""
    path = checkpoints.newest_whole(Path(before.config.run.output_dir))
    trainer = small.trainer()
    checkpoints.restore(trainer, path)
    step, history = int(trainer.step), model_dir.read_history(path)
    return before._replace(trainer=trainer, resumed=path, first=step, history=history, **changes)


def kept_beside(setup):
    """What stands in a checkpoint beside its state, before its step was looked at."""
    return {
        "progress.json": (Path(setup.config.run.output_dir) / "step-2/progress.json").read_bytes()
    }
