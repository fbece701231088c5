import numpy as np
import pytest

from nmt.config import VARIABLE_UPDATES, OptimizerConfig
from nmt.errors import UserError
from nmt.storage import checkpoints
from tests import small

ADAM = OptimizerConfig(optimizer="adam", learning_rate=0.01)
BATCH = small.batch([5, 1, 3, 2], [2, 6, 4, 1])


def trained(**options):
    trainer = small.trainer(optimizer=ADAM, **options)
    for _ in range(2):
        trainer.train_step((BATCH,) * len(trainer.strategy.devices))
    return trainer


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
@pytest.mark.parametrize("saver", VARIABLE_UPDATES)
@pytest.mark.parametrize("encoder_type", ["dynamic_rnn", "cudnn_lstm"])
def test_what_one_saved_any_other_goes_on_from(tmp_path, saver, strategy, encoder_type):
    """With three replicas saved, with two restored; a server's variables are spread over them."""
    saved = trained(strategy=saver, num_replicas=3, encoder_type="cudnn_lstm")
    path = checkpoints.save(saved, tmp_path, {})
    other = small.trainer(strategy, 2, optimizer=ADAM, encoder_type=encoder_type)
    checkpoints.restore(other, path)
    assert int(other.step) == 2
    for copy in other.strategy.copies:
        for one, two in zip(saved.strategy.copies[0].state(), copy.state()):
            np.testing.assert_array_equal(one, two)
    saved.train_step((BATCH,) * 3)
    other.train_step((BATCH, BATCH))
    for one, two in zip(small.values(saved), small.values(other)):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_late_gradients_are_not_lost(tmp_path):
    """Restored with other replicas, training goes on as if it had not been broken off."""
    saved = trained(strategy="replicated", num_replicas=3, relaxed=True)
    path = checkpoints.save(saved, tmp_path, {})
    other = small.trainer("replicated", 2, optimizer=ADAM, relaxed=True)
    checkpoints.restore(other, path)
    start = small.values(other)
    saved.train_step((BATCH,) * 3)
    other.train_step((BATCH,) * 2)
    for one, two, before in zip(small.values(saved), small.values(other), start):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
        assert np.abs(two - before).max() > 1e-4


@pytest.mark.parametrize("relaxed", [True, False])
def test_a_checkpoint_with_late_gradients_and_one_without_restore_in_each_other(tmp_path, relaxed):
    saved = trained(strategy="replicated", num_replicas=2, relaxed=relaxed)
    path = checkpoints.save(saved, tmp_path, {})
    other = small.trainer("replicated", 3, optimizer=ADAM, relaxed=not relaxed)
    checkpoints.restore(other, path)
    for one, two in zip(saved.strategy.copies[0].state(), other.strategy.copies[2].state()):
        np.testing.assert_array_equal(one, two)


def test_an_empty_directory_has_nothing_to_restore(tmp_path):
    assert checkpoints.newest_whole(tmp_path) is None
    assert checkpoints.newest_whole(tmp_path / "not there") is None


def test_models_of_their_own_come_back_each_as_it_was(tmp_path):
    saved = small.trainer("independent", 3, optimizer=ADAM)
    batches = [small.batch([5, 1], [2, 6], seed=seed) for seed in range(3)]
    saved.train_step(tuple(batches))
    path = checkpoints.save(saved, tmp_path, {})
    other = small.trainer("independent", 3, optimizer=ADAM)
    checkpoints.restore(other, path)
    for one, two in zip(saved.strategy.copies, other.strategy.copies):
        for value, restored in zip(one.state(), two.state()):
            np.testing.assert_array_equal(value, restored)
    assert np.abs(small.values(other, 1)[0] - small.values(other, 0)[0]).max() > 1e-4


@pytest.mark.parametrize("options", [{}, {"strategy": "independent"}, {"relaxed": True}])
def test_with_as_many_replicas_training_goes_on_to_the_bit(tmp_path, options):
    options = {"num_replicas": 3, "dropout": 0.2, "ema_decay": 0.9, **options}
    saved = trained(**options)
    path = checkpoints.save(saved, tmp_path, {})
    other = small.trainer(optimizer=ADAM, **options)
    checkpoints.restore(other, path)
    for _ in range(3):
        results = [one.train_step((BATCH,) * 3) for one in (saved, other)]
        assert float(results[0].replicas.loss_sum) == float(results[1].replicas.loss_sum)
    for one, two in zip(saved.weights, other.weights):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("decays", [(0.9, 0.0), (0.0, 0.9)])
def test_averages_may_begin_and_end_with_a_run(tmp_path, decays):
    saved, other = (small.trainer(optimizer=ADAM, ema_decay=decay) for decay in decays)
    saved.train_step((BATCH,))
    checkpoints.restore(other, checkpoints.save(saved, tmp_path, {}))
    for one, two in zip(small.values(saved), other.weights):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "change",
    [
        {"num_units": 9},
        {"num_decoder_layers": 3},
        {"num_decoder_layers": 1},
        {"optimizer": small.SGD},
    ],
)
def test_another_models_checkpoint_is_refused(tmp_path, change):
    path = checkpoints.save(small.trainer(optimizer=ADAM), tmp_path, {})
    with pytest.raises(UserError, match="is not a checkpoint of this model; use the flags"):
        checkpoints.restore(small.trainer(**{"optimizer": ADAM, **change}), path)


def save_steps(directory, *steps):
    trainer = small.trainer(optimizer=ADAM)
    for step in steps:
        trainer.step.assign(step)
        checkpoints.save(trainer, directory, {"more": b"x"})


def harm(path, truncate):
    (data,) = path.glob("state.data-*")
    content = bytearray(data.read_bytes())
    content[len(content) // 3] ^= 8
    data.write_bytes(content[: len(content) // 2] if truncate else content)


@pytest.mark.parametrize("truncate", [True, False])
def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_taken(tmp_path, capsys, truncate):
    save_steps(tmp_path, 1, 2, 3)
    harm(tmp_path / "step-3", truncate)
    assert checkpoints.newest_whole(tmp_path) == tmp_path / "step-2"
    assert (tmp_path / "step-3.damaged").is_dir()
    said = f"{tmp_path}/step-3 is damaged (state.data-00000-of-00001 is not what was written)"
    assert capsys.readouterr().out == f"{said} and set aside\n"


def test_where_all_are_damaged_nothing_is_begun_anew(tmp_path):
    save_steps(tmp_path, 1, 2)
    for step in (1, 2):
        harm(tmp_path / f"step-{step}", truncate=True)
    for _ in range(2):  # who starts it again and again does not begin anew either
        with pytest.raises(UserError, match=r"all checkpoints in .* are damaged; copy one there"):
            checkpoints.newest_whole(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-1", "step-2"]


def test_gradients_that_wait_and_are_no_numbers_are_not_saved(tmp_path):
    trainer = trained(strategy="replicated", num_replicas=2, relaxed=True)
    held = trainer.strategy.late.held[1].sums[0]
    held.assign(np.full(held.shape, np.inf, np.float32))
    with pytest.raises(checkpoints.NoNumbers):
        checkpoints.save(trainer, tmp_path, {})
    assert not list(tmp_path.iterdir())


def test_gradients_that_wait_and_will_be_skipped_are_saved(tmp_path):
    waiting = {"strategy": "replicated", "num_replicas": 2, "relaxed": True, "skips": True}
    trainer = trained(**waiting)
    held = trainer.strategy.late.held[1].sums[0]
    held.assign(np.full(held.shape, np.inf, np.float32))
    path = checkpoints.save(trainer, tmp_path, {})
    later = small.trainer(optimizer=ADAM, **waiting)
    checkpoints.restore(later, path)
    before = small.values(later)
    batches = (small.batch([5, 1, 3], [2, 6, 4]),) * 2
    assert float(later.train_step(batches).update.num_skipped) == 1.0
    for one, two in zip(before, small.values(later)):
        np.testing.assert_array_equal(one, two)
