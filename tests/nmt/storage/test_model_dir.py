import dataclasses
import json
import shutil

import numpy as np
import pytest

from nmt.config import DataConfig, OptimizerConfig, TrainConfig
from nmt.errors import UserError
from nmt.judging import history
from nmt.search import search_flags
from nmt.search.search_flags import SearchConfig
from nmt.storage import checkpoints, model_dir, snapshots
from tests import small
from tests.nmt.search.test_translation import SOURCE, TARGET

CONFIG = TrainConfig(model=small.model_config(attention="luong"), data=DataConfig(tgt_max_len=9))


def save(directory, step=0, config=CONFIG, target=TARGET, looks=(), **options):
    trainer = small.trainer(**{"attention": "luong", **options})
    trainer.step.assign(step)
    for weight in trainer.strategy.copies[0].variables:
        weight.assign_add(0.01 * step * np.ones(weight.shape, np.float32))
    more = {"config.json": model_dir.config_bytes(config)}
    for name, vocabulary in (("source", SOURCE), ("target", target)):
        more[f"vocabulary.{name}.words"] = vocabulary.to_bytes()
    more["progress.json"] = history.to_json({}, history.History(list(looks)))
    checkpoints.save(trainer, directory, more)
    return trainer


def compare(weights, trainer):
    for one, other in zip(weights, small.values(trainer)):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_a_model_comes_back_as_it_was(tmp_path):
    trainer = save(tmp_path)
    trained = model_dir.load(tmp_path)
    assert trained.config == CONFIG
    assert trained.vocabularies == (SOURCE, TARGET)
    for one, other in zip(small.values(trainer), trained.weights):
        np.testing.assert_array_equal(one, other)


def test_the_best_is_taken_or_the_newest_or_the_one_that_is_named(tmp_path):
    trainers = {step: save(tmp_path, step) for step in (1, 2, 10)}
    compare(model_dir.load(tmp_path).weights, trainers[10])
    snapshots.mark_best(tmp_path, tmp_path / "step-1")
    compare(model_dir.load(tmp_path).weights, trainers[1])
    compare(model_dir.load(tmp_path / "step-2").weights, trainers[2])
    compare(model_dir.load(tmp_path / "best").weights, trainers[1])


def test_the_newest_are_averaged(tmp_path):
    trainers = [save(tmp_path, step) for step in (1, 2, 10)]
    snapshots.mark_best(tmp_path, tmp_path / "step-1")
    trained = model_dir.load(tmp_path, num_averaged=2)
    assert [path.name for path in trained.checkpoints] == ["step-10", "step-2"]
    means = [(a + b) / 2 for a, b in zip(*map(small.values, trainers[1:]))]
    for one, other in zip(trained.weights, means):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    with pytest.raises(UserError, match="has 3 checkpoints, fewer than the 4 to average"):
        model_dir.load(tmp_path, num_averaged=4)


def test_moving_averages_are_what_is_translated_with(tmp_path):
    trainer = small.trainer(attention="luong", ema_decay=0.5)
    for average in trainer.averages.variables:
        average.assign_add(np.ones(average.shape, np.float32))
    checkpoints.save(trainer, tmp_path, {})
    weights = model_dir.read_weights(trainer.model, tmp_path / "step-0")
    for one, other in zip(weights, trainer.averages.variables):
        np.testing.assert_array_equal(one, other)


def test_a_configuration_of_an_older_version_has_defaults_for_what_is_new(tmp_path):
    parts = dataclasses.asdict(CONFIG)
    del parts["model"]["residual"], parts["run"]
    assert model_dir.from_dict(parts) == CONFIG


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"model": 3}', '{"model": {"num_units": "8"}}', '{"model": {"num_units": 0}}'],
)
def test_a_damaged_configuration_is_one_line(tmp_path, text):
    (tmp_path / model_dir.CONFIG).write_text(text)
    with pytest.raises(UserError, match="is damaged; copy it anew from where"):
        model_dir.read_config(tmp_path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(UserError, match="has no checkpoint; name the --output_dir of a run"):
        model_dir.load(tmp_path)
    checkpoints.save(small.trainer(), tmp_path, {"config.json": model_dir.config_bytes(CONFIG)})
    with pytest.raises(UserError, match=r"has a model but no vocabulary\.source file"):
        model_dir.load(tmp_path)


def test_damage_is_named(tmp_path):
    save(tmp_path)
    (tmp_path / "step-0" / "config.json").write_text("{}")
    with pytest.raises(UserError, match=r"step-0 is damaged \(config.json is not what was written"):
        model_dir.load(tmp_path)


def test_weights_of_another_model_are_refused(tmp_path):
    save(tmp_path, config=dataclasses.replace(CONFIG, model=small.model_config(num_units=9)))
    with pytest.raises(UserError, match="damaged or of another model"):
        model_dir.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": small.model_config(attention="luong", num_units=9)}, "--num_units=9 but"),
        ({"model": small.model_config()}, "--attention=none but .* with --attention=luong; give"),
        ({"optimizer": OptimizerConfig(optimizer="sgd")}, "--optimizer=sgd but"),
        ({"data": DataConfig(tgt_max_len=9, reverse=True)}, "--reverse=True but"),
        ({"data": DataConfig(dataset="synthetic")}, "--use_synthetic_data=True but .*=False; give"),
    ],
)
def test_a_run_that_would_go_on_with_another_model_is_told_the_flag(tmp_path, change, said):
    save(tmp_path)
    with pytest.raises(UserError, match=said):
        model_dir.refuse_other_model(dataclasses.replace(CONFIG, **change), tmp_path / "step-0")


def test_a_run_may_go_on_with_another_encoder_type_and_more_dropout(tmp_path):
    save(tmp_path)
    model = dataclasses.replace(CONFIG.model, encoder_type="cudnn_lstm", dropout=0.3)
    other = dataclasses.replace(CONFIG, model=model)
    model_dir.refuse_other_model(other, tmp_path / "step-0")


def test_the_file_holds_every_flag():
    parts = json.loads(model_dir.config_bytes(CONFIG))
    assert parts["model"]["attention"] == "luong"
    assert set(parts) == {"data", "model", "optimizer", "parallel", "run"}


def judged(step, bleu):
    return history.Score(step, 1.0, 1.0, 2.7, bleu, bleu)


def test_the_best_is_known_where_there_are_no_links(tmp_path):
    """After `cp -rL`, which follows them, or on a disk that has none."""
    looks = [judged(0, 99.0), judged(1, 8.0), judged(2, 5.0)]  # the first is gone
    trainers = {step: save(tmp_path / "run", step, looks=looks[: step + 1]) for step in (1, 2)}
    compare(model_dir.load(tmp_path / "run").weights, trainers[1])
    snapshots.mark_best(tmp_path / "run", tmp_path / "run" / "step-1")
    shutil.copytree(tmp_path / "run", tmp_path / "copy")  # follows links
    compare(model_dir.load(tmp_path / "copy").weights, trainers[1])


def test_a_best_that_is_older_than_what_was_not_looked_at_is_told(tmp_path, capsys):
    looks = [judged(1, 8.0), judged(2, 5.0)]
    for step in (1, 2):
        save(tmp_path, step, looks=looks[:step])
    snapshots.mark_best(tmp_path, tmp_path / "step-1")
    best = tmp_path / "step-1"
    assert model_dir.not_looked_at(tmp_path, best) is None
    save(tmp_path, 9, looks=looks)
    said = model_dir.not_looked_at(tmp_path, best)
    assert said.startswith("using step-1, the best of all evaluated ones, up to step 2; step-9 ")
    assert model_dir.not_looked_at(tmp_path, tmp_path / "step-9") is None
    assert model_dir.not_looked_at(best, best) is None  # it was named
    translator = search_flags.load_translator(SearchConfig(model=str(tmp_path)))
    assert translator.origin == "step-1"
    assert capsys.readouterr().err == f"{said}\n"


def test_flags_that_are_new_since_the_checkpoint_are_listed(tmp_path):
    save(tmp_path)
    path = tmp_path / "step-0"
    assert model_dir.changes(CONFIG, path) == []
    run = dataclasses.replace(CONFIG.run, seed=7, log_every=3, output_dir="elsewhere")
    data = dataclasses.replace(CONFIG.data, batch_size=9)
    other = dataclasses.replace(CONFIG, run=run, data=data)
    assert model_dir.changes(other, path) == ["--batch_size=9 (was 64)", "--seed=7 (was 1)"]


def test_a_search_is_as_long_as_its_flag_says_or_long_enough(tmp_path):
    save(tmp_path)
    found, named = (
        search_flags.load_translator(SearchConfig(model=str(tmp_path), max_length=limit)).search
        for limit in (0, 5)
    )
    assert [int(found.limits(words)) for words in (2, 30)] == [9, 60]
    assert [int(named.limits(words)) for words in (2, 30)] == [5, 5]


def test_a_checkpoint_that_is_removed_while_it_is_read_is_replaced_by_a_newer_one(
    tmp_path, monkeypatch
):
    """As by a run that trains meanwhile."""
    for step in (1, 2):
        save(tmp_path, step)
    read_weights = model_dir.read_weights

    def slow(model, path):
        if path.name == "step-1":
            shutil.rmtree(path)
            save(tmp_path, 3)
        return read_weights(model, path)

    monkeypatch.setattr(model_dir, "read_weights", slow)
    trained = model_dir.load(tmp_path, num_averaged=2)
    assert [path.name for path in trained.checkpoints] == ["step-3", "step-2"]
