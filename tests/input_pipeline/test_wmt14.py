from pathlib import Path

import pytest

from input_pipeline import cache, wmt14
from input_pipeline.choice import dataset_of
from input_pipeline.corpus import Block, pairs_of_blocks
from nmt import checks
from nmt.config import DataConfig, TrainConfig
from nmt.errors import UserError
from tests.corpora import make_pairs, prepare_wmt14

PAIRS = make_pairs(20)
ROOT = Path(__file__).resolve().parents[2]


def test_what_tensorflow_datasets_prepared_is_read_in_order_english_first(tmp_path):
    prepare_wmt14(tmp_path, PAIRS)
    assert wmt14.find_problem(str(tmp_path)) is None
    for split in ("train", "dev", "test"):
        assert pairs_of_blocks(wmt14.read(str(tmp_path), split)) == PAIRS


def test_a_missing_directory_is_an_error_with_the_command(tmp_path):
    command = f"prepare it with: sh {ROOT}/scripts/prepare_wmt14.sh {tmp_path}"
    problem = wmt14.find_problem(str(tmp_path))
    assert problem == f"wmt14_translate/de-en is not in {tmp_path}; {command}"


def test_a_half_prepared_directory_is_an_error_with_the_command(tmp_path):
    begun = tmp_path / "wmt14_translate" / "de-en" / "1.0.0.incompleteABC"
    begun.mkdir(parents=True)
    assert "is only half prepared in" in wmt14.find_problem(str(tmp_path))
    directory = prepare_wmt14(tmp_path, PAIRS)
    assert wmt14.find_problem(str(tmp_path)) is None
    (shard,) = directory.glob("*-test.*")
    shard.unlink()
    problem = wmt14.find_problem(str(tmp_path))
    assert f"lacks {shard.name}, it is only half prepared; remove it and prepare it" in problem
    (directory / "dataset_info.json").write_text("{")
    assert "lacks a readable dataset_info.json" in wmt14.find_problem(str(tmp_path))


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-5], lambda data: data[:40] + b"?" + data[41:], lambda data: b""],
)
def test_a_damaged_record_file_is_one_line(tmp_path, damage):
    directory = prepare_wmt14(tmp_path, PAIRS)
    (shard,) = directory.glob("*-train.*")
    shard.write_bytes(damage(shard.read_bytes()))
    with pytest.raises(
        UserError, match=r"is damaged in its train split: .* prepare it anew with: sh"
    ):
        list(wmt14.read(str(tmp_path), "train"))


def test_a_class_from_elsewhere_is_not_imported(tmp_path):
    directory = prepare_wmt14(tmp_path, PAIRS)
    for text in ('{"pythonClassName": "antigravity.Translation"}', "{", "[]"):
        (directory / "features.json").write_text(text)
        said = "features.json does not describe translations; remove it all and prepare it with: sh"
        assert said in wmt14.find_problem(str(tmp_path))


def test_a_damaged_description_is_one_line(tmp_path):
    directory = prepare_wmt14(tmp_path, PAIRS)
    (directory / "features.json").write_text("{")
    with pytest.raises(UserError, match="is damaged in its train split"):
        list(wmt14.read(str(tmp_path), "train"))
    (directory / "features.json").unlink()
    assert "lacks features.json" in wmt14.find_problem(str(tmp_path))


def test_the_newest_version_is_taken(tmp_path):
    old = prepare_wmt14(tmp_path, PAIRS)
    new = old.with_name("1.0.10")
    old.rename(new)
    prepare_wmt14(tmp_path / "x", PAIRS).rename(old)
    assert wmt14.version_directory(str(tmp_path)) == new
    assert isinstance(next(wmt14.read(str(tmp_path), "train")), Block)


def test_who_has_no_home_names_a_directory(monkeypatch):
    for name in ("TFDS_DATA_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name)

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert dataset_of(DataConfig()) == "demo"
    assert checks.find_problems(TrainConfig()) == []
    (said,) = checks.find_problems(TrainConfig(data=DataConfig(dataset="wmt14")))
    assert said == "there is no home directory; name a directory with --data_dir"
    with pytest.raises(UserError, match="no home directory; name a directory with --cache_dir"):
        cache.directory("")


def test_where_nobody_may_look_nothing_is_prepared(tmp_path, monkeypatch):
    def forbidden(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", forbidden)
    assert dataset_of(DataConfig()) == "demo"
    (said,) = checks.find_problems(TrainConfig(data=DataConfig(data_dir=str(tmp_path))))
    assert "Permission denied; name another path" in said


def test_the_default_place_is_that_of_tensorflow_datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    assert not wmt14.is_there("")
    prepare_wmt14(tmp_path, PAIRS)
    assert wmt14.is_there("")
