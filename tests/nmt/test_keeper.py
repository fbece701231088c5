import json
import signal
from pathlib import Path

import pytest

from input_pipeline.corpus import Pair
from input_pipeline.training_data import TrainingData
from nmt.config import OptimizerConfig, RunConfig, TrainConfig
from nmt.errors import Diverged, MemoryShort, SaveFailed
from nmt.interrupt import Interrupt, signals_noted
from nmt.judging.dev import DevSet, Look
from nmt.judging.evaluation import Evaluation
from nmt.judging.history import History
from nmt.keeper import Keeper
from nmt.loop import Ending, train_loop
from nmt.measuring.throughput import Meter
from nmt.occasions import Due, Schedule
from nmt.reporting.reporter import Reporter
from nmt.run import train as run_training
from nmt.search import translation
from nmt.search.beam_search import beam_search
from nmt.search.translation import BATCH_SIZE
from nmt.setup import Setup, first_batch
from nmt.storage import checkpoints, lock, model_dir, saver, snapshots
from tests import small
from tests.nmt.reporting.test_summaries import read as read_summaries
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


def scores_of(monkeypatch, *bleus):
    """Looks that find what a test wants them to."""
    left = list(bleus)

    def look(self, safe_point):
        return Look(1.0, Evaluation(DEV, ["t1", "t2"], "greedy", left.pop(0), "", 1.0, ""))

    monkeypatch.setattr(DevSet, "look", look)


def test_the_best_checkpoint_is_kept(tmp_path, monkeypatch):
    scores_of(monkeypatch, 5.0, 9.0, 3.0, 9.0, 4.0, 1.0)
    train(setup_of(output_dir=str(tmp_path), eval_every=1, num_keep_ckpts=1))
    assert names(tmp_path) == ["step-2", "step-6"]
    assert snapshots.best(tmp_path) == tmp_path / "step-2"
    history = model_dir.read_history(tmp_path / "step-6")
    assert [score.bleu for score in history.scores] == [5.0, 9.0, 3.0, 9.0, 4.0, 1.0]


def test_patience_ends_training(tmp_path, monkeypatch):
    scores_of(monkeypatch, 5.0, 9.0, 3.0, 8.0)
    kept, ending = train(setup_of(output_dir=str(tmp_path), eval_every=1, patience=2))
    assert ending is Ending.STALLED
    assert int(kept.setup.trainer.step) == 4
    assert names(tmp_path)[-1] == "step-4"


def test_a_look_is_printed_and_drawn_and_comes_at_the_end_too(tmp_path, capsys):
    kept, _ = train(setup_of(num_batches=3, output_dir=str(tmp_path), eval_every=2))
    assert [score.step for score in kept.history.scores] == [2, 3]
    said = capsys.readouterr().out
    assert said.count("BLEU is nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:") == 1
    assert all(score.chrf_signature.startswith("nrefs:1") for score in kept.history.scores)
    assert "dev at step 2: loss " in said
    assert "BLEU" in said
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    found = read_summaries(tmp_path)
    assert found["dev/bleu"][1] == 3
    assert found["train/loss"][:2] == ("scalars", 3)


def test_a_signal_breaks_a_look_off_and_the_step_is_saved(tmp_path, monkeypatch):
    searched = []

    def traced(*given):
        signal.raise_signal(signal.SIGTERM)
        searched.append(beam_search(*given))
        return searched[-1]

    monkeypatch.setattr(translation, "beam_search", traced)
    setup = setup_of(output_dir=str(tmp_path), eval_every=2)._replace(data=data(DEV * BATCH_SIZE))
    kept, ending = train(setup)
    assert ending is Ending.BROKEN_OFF
    assert names(tmp_path) == ["step-2"]
    assert len(searched) == 1  # the graph was made to its end, and saving worked after it
    assert not kept.history.scores


def again(before, **changes):
    """The setup of a run that goes on from the newest checkpoint."""
    path = checkpoints.newest_whole(Path(before.config.run.output_dir))
    trainer = small.trainer()
    checkpoints.restore(trainer, path)
    step, history = int(trainer.step), model_dir.read_history(path)
    return before._replace(trainer=trainer, resumed=path, first=step, history=history, **changes)


def test_a_look_that_was_broken_off_is_made_up_for(tmp_path, monkeypatch):
    setup = setup_of(num_batches=4, output_dir=str(tmp_path), eval_every=2)
    train(setup._replace(config=TrainConfig(run=RunConfig(output_dir=str(tmp_path)))))
    scores_of(monkeypatch, 7.0)
    kept = Keeper(again(setup, schedule=Schedule(0, 0, 100)), Meter(0), Clock())
    with signals_noted() as interrupt:
        kept.catch_up(interrupt)
    kept.close()
    assert [(score.step, score.bleu) for score in kept.history.scores] == [(4, 7.0)]
    assert snapshots.best(tmp_path) == tmp_path / "step-4"
    assert names(tmp_path) == ["step-4"]


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


def test_a_look_that_is_made_up_for_can_end_training(tmp_path, monkeypatch):
    scores_of(monkeypatch, 9.0, 5.0)
    setup = setup_of(num_batches=2, output_dir=str(tmp_path), eval_every=2)
    train(setup)
    setup.trainer.step.assign(4)
    checkpoints.save(setup.trainer, tmp_path, kept_beside(setup))
    impatient = TrainConfig(run=RunConfig(output_dir=str(tmp_path), eval_every=2, patience=1))
    kept = Keeper(again(setup, config=impatient), Meter(0), Clock())
    with signals_noted() as interrupt:
        assert not kept.catch_up(interrupt)
    kept.close()
    assert [score.bleu for score in kept.history.scores] == [9.0, 5.0]


def kept_beside(setup):
    """What stands in a checkpoint beside its state, before its step was looked at."""
    return {
        "progress.json": (Path(setup.config.run.output_dir) / "step-2/progress.json").read_bytes()
    }


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


def test_memory_that_is_short_for_a_look_costs_the_look_alone(tmp_path, monkeypatch, capsys):
    def look(self, safe_point):
        raise MemoryShort("memory is short")

    monkeypatch.setattr(DevSet, "look", look)
    train(setup_of(output_dir=str(tmp_path), eval_every=2))
    assert names(tmp_path) == ["step-6"]
    said = "not enough memory to evaluate 64 sentences of the dev set at once; training goes on"
    assert capsys.readouterr().err.count(said) == 3


def test_a_look_that_was_made_up_for_and_not_saved_is_made_again(tmp_path, monkeypatch):
    """Nothing was trained after it, so the checkpoint that it found to be the best lacks it."""
    scores_of(monkeypatch, 5.0)
    before = setup_of(output_dir=str(tmp_path))
    train(before)
    snapshots.mark_best(tmp_path, tmp_path / "step-6")
    setup = again(
        before,
        config=TrainConfig(run=RunConfig(output_dir=str(tmp_path), eval_every=4)),
        schedule=Schedule(num_warmup=0, num_batches=12, log_every=100),
    )
    kept = Keeper(setup, Meter(0), Clock())
    kept.catch_up(Interrupt())
    kept.close()
    assert [score.step for score in setup.history.scores] == [6]


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
