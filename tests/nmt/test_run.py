import math

import pytest
import tensorflow as tf

from input_pipeline.training_data import TrainingData
from nmt import run
from nmt.config import ParallelConfig, RunConfig, TrainConfig
from nmt.errors import UserError
from nmt.interrupt import Interrupt
from nmt.judging.history import History
from nmt.keeper import Keeper
from nmt.loop import Ending
from nmt.machine import cpu
from nmt.measuring.throughput import Meter
from nmt.occasions import Schedule
from nmt.reporting import results
from nmt.run import train
from nmt.setup import Setup
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


def exhausted(*_):
    raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")


@pytest.mark.parametrize("work", ["set_up", "train_and_report"])
def test_memory_that_is_short_is_one_line(monkeypatch, work):
    trainer = small.trainer(num_replicas=2)
    schedule = Schedule(num_warmup=0, num_batches=2, log_every=1)
    config = TrainConfig(parallel=ParallelConfig(num_replicas=2))
    setup = Setup(config, data(asked=[]), trainer, schedule, None, 0, History())
    monkeypatch.setattr(run, "set_up", lambda *_: setup)
    monkeypatch.setattr(run, work, exhausted)
    said = "not enough memory for a global batch 128 = 2 x 64 sentences; give a smaller"
    with pytest.raises(UserError, match=said):
        run.run(config)


@pytest.mark.parametrize(
    ("parallel", "matmuls"),
    [(ParallelConfig(), exhausted), (ParallelConfig(num_intra_threads=1, num_inter_threads=1), 1)],
)
def test_what_the_machine_multiplies_is_not_told_where_it_is_not_known(
    monkeypatch, parallel, matmuls
):
    monkeypatch.setattr(run, "matmul_flops_per_s", matmuls)
    monkeypatch.setattr(cpu, "num_cores", lambda: 2)
    rate = run.rate_of_matmuls(small.trainer(), parallel)
    assert math.isnan(rate)
    said = results.arithmetic({"model_flops_per_second": 2e9, "matmul_flops_per_second": rate})
    assert said == "arithmetic of real words: 2.0 GFLOP/s"
