from types import SimpleNamespace

import pytest

from input_pipeline.training_data import TrainingData
from nmt import checkpoints
from nmt.config import DataConfig, ParallelConfig, RunConfig, TrainConfig
from nmt.errors import UserError
from nmt.loop import Schedule
from nmt.run import Setup, close, first_batch, make_schedule, make_trainer, servers, train
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


def test_the_protocol_is_warm_up_and_timed_batches():
    assert make_schedule(TrainConfig(), data(), first=100)[:2] == (10, 30)


def test_epochs_end_where_they_would_have_without_a_restart():
    config = TrainConfig(run=RunConfig(num_epochs=2, output_dir="out"))
    assert make_schedule(config, data(num_batches=50), first=0).num_batches == 50
    assert make_schedule(config, data(num_batches=50), first=45).num_batches == 5
    with pytest.raises(UserError, match="finished all of --num_epochs=2; give more epochs"):
        make_schedule(config, data(num_batches=50), first=50)


def test_the_place_in_the_data_does_not_depend_on_the_size_of_a_batch():
    trainer = small.trainer()
    trainer.epochs.assign(1500 / 1000)
    assert first_batch(trainer, data()._replace(batches_per_epoch=1000)) == 1500
    assert first_batch(trainer, data()._replace(batches_per_epoch=125)) == round(1.5 * 125)
    assert first_batch(trainer, data()) == 0


def test_a_server_on_the_host_is_one_of_the_replicas_devices():
    names = ("CPU:0", "CPU:1")
    assert servers(ParallelConfig(), names) == names
    assert servers(ParallelConfig(local_parameter_device="cpu"), names) == ("CPU:0",)


def test_the_place_in_the_data_is_saved(tmp_path, capsys):
    trainer = small.trainer()
    run = RunConfig(output_dir=str(tmp_path))
    schedule = Schedule(num_warmup=0, num_batches=3, log_every=1)
    where = data()._replace(batches_per_epoch=10)
    setup = Setup(TrainConfig(run=run), where, trainer, schedule, None, first=5)
    close(setup, {"losses": [1.0] * 3, "timed_batches": 0}, finished=True)
    later = small.trainer()
    checkpoints.restore(later, tmp_path)
    assert first_batch(later, where) == 8


@pytest.mark.parametrize(("flags", "expected"), [({}, {0, 1}), ({"sparse_gradients": "dense"}, ())])
def test_embeddings_gradients_travel_as_the_flag_says(flags, expected):
    """500 rows at most a side and replica, of vocabularies of 9,000 and 7,000 words."""
    config = TrainConfig(
        data=DataConfig(batch_size=10),
        model=small.MODEL,
        parallel=ParallelConfig(num_replicas=2, **flags),
    )
    sizes = SimpleNamespace(vocabulary_sizes=(9000, 7000), spaces=(None, None))
    rows = make_trainer(config, sizes, ("CPU:0", "CPU:1")).strategy.rows
    assert set(rows) == set(expected)
    assert [(e.size, e.most_rows) for e in rows.values()] == [(9000, 500), (7000, 500)][: len(rows)]
