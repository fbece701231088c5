import pytest
import tensorflow as tf

from input_pipeline.training_data import TrainingData
from nmt.config import RunConfig, TrainConfig
from nmt.errors import UserError
from nmt.history import History
from nmt.interrupt import Interrupt
from nmt.keeper import Keeper
from nmt.loop import Ending
from nmt.occasions import Schedule
from nmt.run import train
from nmt.setup import Setup
from nmt.throughput import Meter
from tests import small

BATCH = (small.batch([5, 1, 3], [2, 6, 4]),)


def data(num_batches=None, asked=None):
    def batches_from(first):
        asked.append(first)
        return [BATCH] * 3

    return TrainingData({}, batches_from, num_batches, small.SIZES, None, [], [], False, 0.0)


def test_a_resumed_run_asks_for_the_batches_it_has_not_seen():
    asked, trainer, meter = [], small.trainer(), Meter(0)
    trainer.step.assign(5)
    schedule = Schedule(num_warmup=0, num_batches=2, log_every=1)
    config = TrainConfig(run=RunConfig())
    setup = Setup(config, data(asked=asked), trainer, schedule, None, 5, History())
    assert train(setup, meter, Keeper(setup, meter), Interrupt()) is Ending.FINISHED
    assert asked == [5]
    assert int(trainer.step) == 7
    assert len(meter.losses) == 2


def test_memory_that_is_short_is_one_line():
    def exhausted(_):
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")

    trainer, meter = small.trainer(num_replicas=2), Meter(0)
    trainer.train_step = exhausted
    schedule = Schedule(num_warmup=0, num_batches=2, log_every=1)
    setup = Setup(TrainConfig(), data(asked=[]), trainer, schedule, None, 0, History())
    said = "memory is short for a global batch .* = 2 x .* sentences; give a smaller --batch_size"
    with pytest.raises(UserError, match=said):
        train(setup, meter, Keeper(setup, meter), Interrupt())
