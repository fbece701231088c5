from input_pipeline.training_data import TrainingData
from nmt import checkpoints
from nmt.config import RunConfig, TrainConfig
from nmt.loop import Schedule
from nmt.run import save, train
from nmt.setup import Setup, first_batch
from nmt.throughput import Meter
from tests import small

BATCH = (small.batch([5, 1, 3], [2, 6, 4]),)


def data(num_batches=None, asked=None):
    def batches_from(first):
        asked.append(first)
        return [BATCH] * 3

    return TrainingData({}, batches_from, num_batches, small.SIZES, None, [], False, 0.0)


def test_a_resumed_run_asks_for_the_batches_it_has_not_seen():
    asked, trainer, meter = [], small.trainer(), Meter(0)
    trainer.step.assign(5)
    schedule = Schedule(num_warmup=0, num_batches=2, log_every=1)
    setup = Setup(TrainConfig(), data(asked=asked), trainer, schedule, None, first=5)
    assert train(setup, meter)
    assert asked == [5]
    assert int(trainer.step) == 7
    assert len(meter.losses) == 2


def test_the_place_in_the_data_is_saved(tmp_path, capsys):
    trainer = small.trainer()
    run = RunConfig(output_dir=str(tmp_path))
    schedule = Schedule(num_warmup=0, num_batches=3, log_every=1)
    where = data()._replace(batches_per_epoch=10)
    setup = Setup(TrainConfig(run=run), where, trainer, schedule, None, first=5)
    save(setup, 3, finished=True)
    later = small.trainer()
    checkpoints.restore(later, tmp_path)
    assert first_batch(later, where) == 8
