import signal

from nmt.config import RunConfig, TrainConfig
from nmt.errors import MemoryShort
from nmt.interrupt import Interrupt, signals_noted
from nmt.judging.dev import DevSet
from nmt.keeper import Keeper
from nmt.loop import Ending
from nmt.measuring.throughput import Meter
from nmt.occasions import Schedule
from nmt.search import translation
from nmt.search.beam_search import beam_search
from nmt.search.translation import BATCH_SIZE
from nmt.storage import checkpoints, model_dir, snapshots
from tests.keeping import DEV, Clock, again, data, kept_beside, names, scores_of, setup_of, train
from tests.nmt.reporting.test_summaries import read as read_summaries


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
