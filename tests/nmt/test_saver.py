import json
from pathlib import Path

import pytest

from nmt import saver
from nmt.config import OptimizerConfig
from nmt.errors import Diverged, SaveFailed
from nmt.interrupt import Interrupt, signals_noted
from nmt.keeper import Keeper
from nmt.measuring.throughput import Meter
from nmt.occasions import Due, Schedule
from nmt.run import train as run_training
from nmt.setup import first_batch
from nmt.storage import checkpoints, lock, model_dir, snapshots
from tests import small
from tests.keeping import Clock, again, names, scores_of, setup_of, train
from tests.nmt.search.test_translation import SOURCE


def test_checkpoints_come_every_so_many_steps_and_at_the_end(tmp_path):
    """Steps count from the first run's beginning, so a restart does not shift them."""
    setup = setup_of(num_batches=7, step=3, output_dir=str(tmp_path), save_every_steps=4)
    train(setup)
    assert names(tmp_path) == ["step-10", "step-4", "step-8"]
    later = small.trainer()
    checkpoints.restore(later, tmp_path / "step-8")
    assert int(later.step) == 8
    assert first_batch(later, setup.data) == 8


def test_checkpoints_come_every_so_many_minutes(tmp_path):
    clock = Clock()
    setup = setup_of(output_dir=str(tmp_path), save_every_minutes=2)
    kept = Keeper(setup, Meter(0), clock)
    clock.now = 119.0
    assert kept.due(1) == Due(save=False, look=False)
    clock.now = 120.0
    assert kept.due(2) == Due(save=True, look=False)
    kept.saver.save(2)
    clock.now = 239.0
    assert not kept.due(3).save
    kept.close()


def test_a_checkpoint_has_all_that_is_needed_to_go_on(tmp_path):
    (tmp_path / "vocabulary.source.words").write_bytes(SOURCE.to_bytes())
    train(setup_of(output_dir=str(tmp_path), seed=7))
    (path,) = snapshots.newest_first(tmp_path)
    assert (path / "vocabulary.source.words").read_bytes() == SOURCE.to_bytes()
    assert model_dir.read_config(path).run.seed == 7
    facts = json.loads((path / "progress.json").read_text())
    assert (facts["step"], facts["seed"]) == (6, 7)
    assert facts["learning_rate"] == pytest.approx(0.001)


def test_a_link_to_the_best_that_was_not_made_is_made(tmp_path, monkeypatch):
    scores_of(monkeypatch, 5.0, 9.0, 3.0)
    setup = setup_of(output_dir=str(tmp_path), eval_every=2)
    train(setup)
    snapshots.mark_best(tmp_path, tmp_path / "step-2")  # as if it was killed before the next one
    kept = Keeper(again(setup), Meter(0), Clock())
    with signals_noted() as interrupt:
        kept.catch_up(interrupt)
    kept.close()
    assert snapshots.best(tmp_path) == tmp_path / "step-4"


def full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_link_that_cannot_be_made_costs_a_line_and_not_the_best(tmp_path, monkeypatch, capsys):
    """Some disks have no links."""
    scores_of(monkeypatch, 9.0, 5.0, 3.0)
    setup = setup_of(output_dir=str(tmp_path), eval_every=2, save_every_steps=1, num_keep_ckpts=1)
    monkeypatch.setattr(Path, "symlink_to", full)
    train(setup)
    kept = Keeper(again(setup), Meter(0), Clock())
    with signals_noted() as interrupt:
        assert kept.catch_up(interrupt)
    kept.close()
    said = capsys.readouterr().err
    assert said.count("No space left on device; training goes on\n") == said.count("\n") > 1
    assert names(tmp_path) == ["step-2", "step-5", "step-6"]


def test_a_disk_that_answers_no_more_costs_a_line(tmp_path, monkeypatch, capsys):
    scores_of(monkeypatch, 5.0, 4.0, 3.0)
    is_dir = Path.is_dir
    monkeypatch.setattr(
        Path, "is_dir", lambda path: full() if path.name == "step-2" else is_dir(path)
    )
    kept, _ = train(setup_of(output_dir=str(tmp_path), eval_every=2, num_keep_ckpts=1))
    assert len(kept.history.scores) == 3
    assert "No space left on device; training goes on" in capsys.readouterr().err
    assert names(tmp_path)[-1] == "step-6"


def test_a_directory_that_was_moved_away_gets_whole_checkpoints_again(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    (place / "vocabulary.source.words").write_bytes(SOURCE.to_bytes())
    kept = Keeper(setup_of(output_dir=str(place)), Meter(0), Clock())
    place.rename(tmp_path / "elsewhere")
    kept.finish(0)
    kept.close()
    assert (place / "step-0" / "vocabulary.source.words").read_bytes() == SOURCE.to_bytes()


def test_after_the_best_was_not_saved_the_best_of_what_is_saved_is_kept(tmp_path, monkeypatch):
    scores_of(monkeypatch, 5.0, 9.0, 7.0, 6.0)
    setup = setup_of(num_batches=4, output_dir=str(tmp_path), eval_every=1, num_keep_ckpts=1)
    save = saver.checkpoints.save

    def save_but_not_the_second(trainer, *more):
        return full() if int(trainer.step) == 2 else save(trainer, *more)

    monkeypatch.setattr(saver.checkpoints, "save", save_but_not_the_second)
    train(setup)
    assert names(tmp_path) == ["step-3", "step-4"]
    assert snapshots.best(tmp_path) == tmp_path / "step-3"


def test_a_full_disk_costs_a_line_during_training_and_nothing_that_was_saved(
    tmp_path, monkeypatch, capsys
):
    setup = setup_of(output_dir=str(tmp_path), save_every_steps=2)
    kept = Keeper(setup, Meter(0))
    good = kept.saver.save(0)
    monkeypatch.setattr(saver.checkpoints, "save", full)
    with signals_noted() as interrupt:
        assert kept.work(2, Due(save=True, look=False), interrupt)
    said = f"step 2 was not saved in {tmp_path}: No space left on device; the last good one is"
    assert capsys.readouterr().err == f"train.py: {said} {good}; training goes on\n"
    with pytest.raises(SaveFailed, match="No space left on device"):
        kept.finish(2)
    assert names(tmp_path) == ["step-0"]
    assert snapshots.damage(good) is None
    kept.close()


def test_nothing_is_written_where_another_run_is_at_work_by_now(tmp_path, capsys):
    place = tmp_path / "out"
    with lock.held(place) as mine:
        setup = setup_of(output_dir=str(place), num_keep_ckpts=1)
        kept = Keeper(setup, Meter(0), Clock(), mine)
        place.rename(tmp_path / "moved")
        with lock.held(place):
            others = checkpoints.save(small.trainer(), place, {})
            with signals_noted() as interrupt:
                assert kept.work(2, Due(save=True, look=False), interrupt)
            assert "is in use by process" in capsys.readouterr().err
            assert names(place) == ["step-0"]
            assert snapshots.damage(others) is None
        kept.close()


WILD = OptimizerConfig(optimizer="sgd", learning_rate=1e38, max_gradient_norm=0.0)


def test_a_good_checkpoint_is_kept_until_the_next_has_proved_good(tmp_path, capsys):
    """A loss is that of the weights before an update: the last update may have ruined them."""
    run = {"output_dir": str(tmp_path), "save_every_steps": 1, "num_keep_ckpts": 1}
    setup = setup_of(**run)
    train(setup._replace(schedule=Schedule(0, 2, 1)))
    assert names(tmp_path) == ["step-1", "step-2"]
    wild = setup._replace(trainer=small.trainer(optimizer=WILD), resumed=tmp_path / "step-2")
    checkpoints.restore(wild.trainer, tmp_path / "step-2")
    with pytest.raises(Diverged, match=r"at step 5, .* checkpoint is .*step-3$"):
        run_training(wild, Meter(0), Keeper(wild, Meter(0), Clock()), Interrupt())
    assert names(tmp_path) == ["step-3", "step-4.damaged"]
    assert "step-4 led to a loss that is not finite and is set aside" in capsys.readouterr().out


def test_a_gradient_that_is_no_number_does_not_speak_against_the_weights(tmp_path):
    kept = Keeper(setup_of(output_dir=str(tmp_path), step=3), Meter(0), Clock())
    saved = kept.saver.save(0)
    assert kept.saver.last_good(Diverged("", 4, loss_is_number=True)) == saved
    assert kept.saver.last_good(Diverged("", 5, loss_is_number=False)) == saved
    assert kept.saver.last_good(Diverged("", 4, loss_is_number=False)) is None
    kept.close()


def go_on(setup, **trainer):
    """Trains on from the newest checkpoint."""
    path = checkpoints.newest_whole(Path(setup.config.run.output_dir))
    wild = setup._replace(trainer=small.trainer(**trainer), resumed=path)
    checkpoints.restore(wild.trainer, path)
    return train(wild)


def test_the_last_good_checkpoint_outlives_the_run_that_ruins_its_weights(tmp_path):
    """Nothing has been learned from the last step's weights yet when a run ends."""
    setup = setup_of(num_batches=2, output_dir=str(tmp_path), num_keep_ckpts=1)
    train(setup)
    go_on(setup, optimizer=WILD)
    assert names(tmp_path) == ["step-2", "step-4"]
    with pytest.raises(Diverged):
        go_on(setup)
    snapshots.set_aside(tmp_path / "step-4")
    kept, _ = go_on(setup)
    assert int(kept.setup.trainer.step) == 4


def test_skipped_steps_leave_no_checkpoint_in_place_of_a_good_one(tmp_path, capsys):
    run = {"save_every_steps": 1, "num_keep_ckpts": 1, "skip_nan_steps": True}
    setup = setup_of(num_batches=2, output_dir=str(tmp_path), **run)
    setup = setup._replace(schedule=Schedule(0, 2, 1))
    train(setup)
    kept, _ = go_on(setup._replace(schedule=Schedule(0, 9, 1)), optimizer=WILD, skips=True)
    assert kept.meter.num_skipped > 5
    # A number came of the third step's weights; the end is saved all the same.
    assert names(tmp_path) == ["step-11", "step-3"]
    capsys.readouterr()
    before = names(tmp_path)
    go_on(setup._replace(schedule=Schedule(0, 3, 1)), skips=True)
    assert names(tmp_path) == before
    assert "all 3 steps were skipped: nothing new is saved" in capsys.readouterr().out


@pytest.mark.parametrize(("skipped", "expected"), [(6, ["step-6"]), (12, [])])
def test_of_independent_models_all_must_have_skipped_all_steps(tmp_path, skipped, expected):
    trainer = small.trainer("independent", num_replicas=2, skips=True)
    setup = setup_of(output_dir=str(tmp_path), skip_nan_steps=True)._replace(trainer=trainer)
    meter = Meter(0)
    kept = Keeper(setup, meter, Clock())
    meter.num_skipped = skipped
    trainer.step.assign(6)
    kept.finish(6)
    kept.close()
    assert names(tmp_path) == expected
