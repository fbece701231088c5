import dataclasses
import re

import pytest

from input_pipeline import checks
from input_pipeline.choice import dataset_of
from nmt.config import DataConfig
from tests.corpora import make_pairs, prepare_wmt14, write_files


def problems(**flags):
    config = DataConfig(**flags)
    return [problem for rule in checks.RULES for problem in rule(config)]


def files(directory, **more):
    source, target = write_files(directory, make_pairs(3))
    return {"src_file_name": str(source), "tgt_file_name": str(target), **more}


def test_good_flags_have_no_problem(tmp_path):
    assert problems() == []
    assert problems(**files(tmp_path)) == []
    assert problems(use_synthetic_data=True, src_max_len=100) == []
    assert problems(use_synthetic_data=True, src_max_len=9, tgt_max_len=9) == []
    assert problems(dataset="files", **files(tmp_path), vocab_type="bpe", joint_vocab=True) == []


def test_a_comma_is_no_name():
    found = problems(src_file_name=",", tgt_file_name=", ,")
    assert found == [
        f"--{side}_file_name={value} names no file; name one, or leave it out"
        for side, value in (("src", ","), ("tgt", ", ,"))
    ]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"dataset": "files"}, "--dataset=files needs --src_file_name and --tgt_file_name"),
        ({"src_file_name": "X"}, "--src_file_name is given without --tgt_file_name; name both"),
        ({"tgt_file_name": "X"}, "--tgt_file_name is given without --src_file_name; name both"),
        ({"dataset": "demo", "data_dir": "X"}, "--data_dir=X does nothing with --dataset=demo;"),
        ({"use_synthetic_data": True, "batch_words": 900}, "--batch_words=900 does nothing with"),
        (
            {"use_synthetic_data": True, "src_max_len": 13, "tgt_max_len": 14},
            "--tgt_max_len=14 does nothing with --dataset=synthetic, whose sides are both --src_m",
        ),
        ({"use_synthetic_data": True, "dataset": "demo"}, "name two datasets; leave one of them"),
        ({"src_vocab_file": "nowhere"}, "--src_vocab_file=nowhere does not exist; check"),
        ({"src_vocab_file": "/"}, "--src_vocab_file=/ is not a file; name a file"),
        ({"src_vocab_size": 3}, "--src_vocab_size=3 cannot be used; give at least 4"),
        ({"batch_words": 99}, "--batch_words=99 is less than .* together; give at least 100"),
        ({"batch_words": 900, "batch_size": 9}, "both say how large a batch is; leave one"),
        ({"joint_vocab": True, "src_vocab_size": 9, "tgt_vocab_size": 8}, "two --.*_vocab_size, 9"),
        ({"data_dir": "/nowhere"}, "wmt14_translate/de-en is not in /nowhere; prepare it with: sh"),
        (
            {"dataset": "wmt14"},
            r"wmt14_translate/de-en is not in .*; prepare it with: sh \S+/prepare_wmt14",
        ),
    ],
)
def test_each_mistake_is_one_sentence_with_the_way_out(flags, message):
    found = [problem for problem in problems(**flags) if "matches no file" not in problem]
    assert len(found) == 1
    assert re.search(message, found[0])


def test_files_that_are_not_there_are_named(tmp_path):
    (found,) = problems(**files(tmp_path, tgt_file_name=f"{tmp_path}/nothing*"))
    assert found == f"--tgt_file_name={tmp_path}/nothing* matches no file; check the name"


def test_one_wrong_name_among_several_is_named(tmp_path):
    good = files(tmp_path)["src_file_name"]
    (found,) = problems(**files(tmp_path, src_file_name=f"{good},{tmp_path}/typo"))
    assert found == f"--src_file_name={tmp_path}/typo matches no file; check the name"


def test_sides_need_equally_many_files(tmp_path):
    write_files(tmp_path, make_pairs(3), "b")
    (found,) = problems(**files(tmp_path, src_file_name=f"{tmp_path}/*.en"))
    assert found.startswith("--src_file_name means 2 files and --tgt_file_name means 1; give")


def test_a_given_vocabulary_is_not_learned(tmp_path):
    path = tmp_path / "a.model"
    path.write_bytes(b"")
    (found,) = problems(**files(tmp_path, vocab_type="bpe", src_vocab_file=str(path)))
    assert found == "--vocab_type=bpe and a vocabulary file exclude each other; leave one out"
    words = files(tmp_path, vocab_type="word", src_vocab_file=files(tmp_path)["src_file_name"])
    assert problems(**words) == []


def test_auto_takes_files_then_wmt14_then_the_demo(tmp_path, monkeypatch):
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    assert dataset_of(DataConfig()) == "demo"
    assert dataset_of(DataConfig(data_dir="elsewhere")) == "wmt14"
    begun = tmp_path / "wmt14_translate" / "de-en" / "1.0.0.incompleteA"
    begun.mkdir(parents=True)
    (found,) = problems()
    assert "half prepared" in found
    assert found.endswith(", or use --dataset=demo")
    prepare_wmt14(tmp_path, make_pairs(3))
    assert problems() == []
    assert dataset_of(DataConfig()) == "wmt14"
    assert dataset_of(DataConfig(src_file_name="x")) == "files"
    assert dataset_of(DataConfig(use_synthetic_data=True)) == "synthetic"
    assert dataset_of(DataConfig(dataset="demo")) == "demo"


def test_every_field_that_is_for_some_datasets_names_real_ones():
    from nmt.config import DATASETS

    for field in dataclasses.fields(DataConfig):
        assert set(field.metadata["option"].only) <= set(DATASETS)
