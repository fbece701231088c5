from types import SimpleNamespace

import numpy as np
import pytest

from input_pipeline.corpus import Pair
from input_pipeline.synthetic import synthetic_batch
from input_pipeline.training_data import TrainingData
from nmt.config import DataConfig, ParallelConfig, RunConfig, TrainConfig
from nmt.judging.dev import name_of
from nmt.judging.history import History, Score
from nmt.setup import first_batch, looks_at, make_trainer, num_left, servers
from tests import small


def data(num_batches=None):
    return TrainingData({}, lambda first: [], num_batches, small.SIZES, None, [], [], False, 0.0)


def test_the_protocol_is_warm_up_and_timed_batches():
    assert num_left(TrainConfig(), data(), first=0, step=0) == 30


def test_a_run_that_is_started_again_ends_where_it_would_have_ended():
    config = TrainConfig(run=RunConfig(output_dir="out"))
    assert num_left(config, data(), first=0, step=25) == 5
    assert num_left(config, data(), first=0, step=30) == 0
    assert num_left(config, data(), first=0, step=31) == 0


def test_epochs_end_where_they_would_have_without_a_restart():
    config = TrainConfig(run=RunConfig(num_epochs=2, output_dir="out"))
    assert num_left(config, data(num_batches=50), first=0, step=0) == 50
    assert num_left(config, data(num_batches=50), first=45, step=7) == 5
    assert num_left(config, data(num_batches=50), first=50, step=7) == 0


def test_the_place_in_the_data_does_not_depend_on_the_size_of_a_batch():
    trainer = small.trainer()
    trainer.epochs.assign(1500 / 1000)
    assert first_batch(trainer, data()._replace(batches_per_epoch=1000)) == 1500
    assert first_batch(trainer, data()._replace(batches_per_epoch=125)) == round(1.5 * 125)
    assert first_batch(trainer, data()) == 0


def test_looks_at_another_dev_set_do_not_count(capsys):
    dev = [Pair("a", "b")]
    looks = [Score(step, 2.0, 2.0, 7.0, 30.0, 50.0) for step in (1, 2)]
    history = History([looks[0]._replace(pairs=name_of(dev)), looks[1]._replace(pairs="other")])
    assert looks_at(dev, history).scores == history.scores[:1]
    assert capsys.readouterr().out.startswith("the dev set is another one: 1 evaluations before")
    assert looks_at([], history) == history
    assert capsys.readouterr().out == ""


def test_a_server_on_the_host_is_one_of_the_replicas_devices():
    names = ("CPU:0", "CPU:1")
    assert servers(ParallelConfig(), names) == names
    assert servers(ParallelConfig(local_parameter_device="cpu"), names) == ("CPU:0",)


SMALL_BATCHES = DataConfig(batch_size=10)


def trainer_with(names=("CPU:0", "CPU:1"), data=SMALL_BATCHES, **flags):
    config = TrainConfig(data=data, model=small.MODEL, parallel=ParallelConfig(**flags))
    sizes = SimpleNamespace(vocabulary_sizes=(9000, 7000), spaces=(None, None))
    return make_trainer(config, sizes, names)


def test_variables_are_where_the_flags_put_them():
    flags = {"variable_update": "parameter_server", "local_parameter_device": "cpu"}
    on_host = trainer_with(**flags).strategy.copies[0].variables
    assert {variable.device.split("device:")[-1] for variable in on_host} == {"CPU:0"}
    spread = trainer_with(variable_update="parameter_server").strategy.copies[0].variables
    assert {variable.device.split("device:")[-1] for variable in spread} == {"CPU:0", "CPU:1"}


def test_one_replica_is_never_late():
    """It has nothing to exchange, and its plan says that the flag does nothing."""
    alone = trainer_with(("CPU:0",), variable_consistency="relaxed").strategy
    assert alone.late is None
    assert alone.describe().endswith("nothing to exchange")


def test_the_most_rows_are_those_of_the_longest_batch_there_can_be():
    lengths = {"batch_size": 8, "src_max_len": 100, "tgt_max_len": 50}
    for dataset, expected in (("demo", [800, 400]), ("synthetic", [800, 800])):
        data = DataConfig(dataset=dataset, **lengths)
        rows = trainer_with(data=data, sparse_gradients="sparse").strategy.rows
        assert [embedding.most_rows for embedding in rows.values()] == expected
    batch = synthetic_batch(data, rows=8, seed=1)
    assert len(np.unique(batch.target)) <= 800


def test_the_plan_counts_the_packs_there_really_are():
    strategy = trainer_with(gradient_repacking=1000).strategy
    dense = len(strategy.copies[0].variables) - len(strategy.rows)
    assert f"gradients in {dense} packs" in strategy.describe()


def test_the_exchange_is_what_the_flags_say():
    strategy = trainer_with(
        all_reduce_spec="xring#2", gradient_repacking=2, compact_gradient_transfer=True
    ).strategy
    assert strategy.exchange.packing.num_packs == 2
    assert strategy.exchange.packing.order[0] == len(strategy.copies[0].variables) - 1
    assert strategy.exchange.compact
    assert strategy.late is None
    assert "all-reduce xring#2 in 16 bits, gradients in 2 packs" in strategy.describe()


def test_small_gradients_and_late_ones_are_what_the_flags_say():
    strategy = trainer_with(
        agg_small_grads_max_bytes=64, agg_small_grads_max_group=7, variable_consistency="relaxed"
    ).strategy
    assert strategy.exchange.packing[1:3] == (64, 7)
    assert strategy.late is not None
    assert "one step late" in strategy.describe()


@pytest.mark.parametrize(("flags", "expected"), [({}, {0, 1}), ({"sparse_gradients": "dense"}, ())])
def test_embeddings_gradients_travel_as_the_flag_says(flags, expected):
    """500 rows at most a side and replica, of vocabularies of 9,000 and 7,000 words."""
    rows = trainer_with(**flags).strategy.rows
    assert set(rows) == set(expected)
    assert [(e.size, e.most_rows) for e in rows.values()] == [(9000, 500), (7000, 500)][: len(rows)]
