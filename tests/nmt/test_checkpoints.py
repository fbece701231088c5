import numpy as np
import pytest

from nmt import checkpoints
from nmt.config import VARIABLE_UPDATES, OptimizerConfig
from nmt.errors import UserError
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
    checkpoints.save(saved, tmp_path, 1)
    other = small.trainer(strategy, 2, optimizer=ADAM, encoder_type=encoder_type)
    assert checkpoints.restore(other, tmp_path) is not None
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
    checkpoints.save(saved, tmp_path, 1)
    other = small.trainer("replicated", 2, optimizer=ADAM, relaxed=True)
    checkpoints.restore(other, tmp_path)
    start = small.values(other)
    saved.train_step((BATCH,) * 3)
    other.train_step((BATCH,) * 2)
    for one, two, before in zip(small.values(saved), small.values(other), start):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
        assert np.abs(two - before).max() > 1e-4


@pytest.mark.parametrize("relaxed", [True, False])
def test_a_checkpoint_with_late_gradients_and_one_without_restore_in_each_other(tmp_path, relaxed):
    saved = trained(strategy="replicated", num_replicas=2, relaxed=relaxed)
    checkpoints.save(saved, tmp_path, 1)
    other = small.trainer("replicated", 3, optimizer=ADAM, relaxed=not relaxed)
    checkpoints.restore(other, tmp_path)
    for one, two in zip(saved.strategy.copies[0].state(), other.strategy.copies[2].state()):
        np.testing.assert_array_equal(one, two)


def test_an_empty_directory_has_nothing_to_restore(tmp_path):
    assert checkpoints.restore(small.trainer(), tmp_path) is None


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
    checkpoints.save(small.trainer(optimizer=ADAM), tmp_path, 1)
    with pytest.raises(UserError, match="is not a checkpoint of this model; use the flags"):
        checkpoints.restore(small.trainer(**{"optimizer": ADAM, **change}), tmp_path)


def test_as_many_are_kept_as_asked_for(tmp_path):
    trainer = small.trainer(optimizer=ADAM)
    for step in (1, 2, 3):
        trainer.step.assign(step)
        checkpoints.save(trainer, tmp_path, 2)
    assert sorted(path.stem for path in tmp_path.glob("*.index")) == ["ckpt-2", "ckpt-3"]
