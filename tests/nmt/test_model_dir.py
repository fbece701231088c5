import dataclasses
import json

import numpy as np
import pytest

from nmt import checkpoints, model_dir
from nmt.config import DataConfig, TrainConfig
from nmt.errors import UserError
from tests import small
from tests.nmt.test_translation import SOURCE, TARGET

CONFIG = TrainConfig(model=small.model_config(attention="luong"), data=DataConfig(tgt_max_len=9))


def save(directory):
    trainer = small.trainer(attention="luong")
    model_dir.write_config(CONFIG, directory)
    for name, vocabulary in (("source", SOURCE), ("target", TARGET)):
        (directory / f"vocabulary.{name}.words").write_bytes(vocabulary.to_bytes())
    checkpoints.save(trainer, directory, 1)
    return trainer


def test_a_model_comes_back_as_it_was(tmp_path):
    trainer = save(tmp_path)
    trained = model_dir.load(tmp_path)
    assert trained.config == CONFIG
    assert trained.vocabularies == (SOURCE, TARGET)
    for one, other in zip(small.values(trainer), trained.weights):
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
    save(tmp_path)
    (tmp_path / model_dir.CONFIG).write_text(text)
    with pytest.raises(UserError, match="is damaged; copy it anew from where"):
        model_dir.load(tmp_path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(UserError, match=r"has no config\.json; name the --output_dir"):
        model_dir.load(tmp_path)
    model_dir.write_config(CONFIG, tmp_path)
    with pytest.raises(UserError, match=r"has no vocabulary\.source"):
        model_dir.load(tmp_path)
    save(tmp_path)
    for path in tmp_path.glob("ckpt-*"):
        path.unlink()
    (tmp_path / "checkpoint").unlink()
    with pytest.raises(UserError, match="has no checkpoint; train with"):
        model_dir.load(tmp_path)


def test_weights_of_another_model_are_refused(tmp_path):
    save(tmp_path)
    larger = dataclasses.replace(CONFIG, model=small.model_config(num_units=9))
    model_dir.write_config(larger, tmp_path)
    with pytest.raises(UserError, match="damaged or of another model"):
        model_dir.load(tmp_path)


def test_the_file_holds_every_flag(tmp_path):
    model_dir.write_config(CONFIG, tmp_path)
    parts = json.loads((tmp_path / model_dir.CONFIG).read_text())
    assert parts["model"]["attention"] == "luong"
    assert set(parts) == {"data", "model", "optimizer", "parallel", "run"}
    assert [path.name for path in tmp_path.iterdir()] == [model_dir.CONFIG]
