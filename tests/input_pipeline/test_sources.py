import dataclasses
import gzip
import itertools

import numpy as np
import pytest

from input_pipeline import sources
from input_pipeline.corpus import Pair, Splits
from input_pipeline.sources import SOURCES, from_splits
from input_pipeline.training_data import Request
from nmt.config import DATASETS, DataConfig
from nmt.errors import UserError
from tests.corpora import prepare_wmt14, prose, write_files

PAIRS = [Pair(f"n{i} " + "x " * (i % 5), "y " * (1 + i % 4)) for i in range(40)]
SPLITS = Splits(PAIRS, PAIRS[:1], PAIRS[:2])
CONFIG = DataConfig(batch_size=4, num_buckets=2)


def make(config=CONFIG, num_epochs=0):
    return from_splits("toy", SPLITS, Request(config, ["CPU:0"], num_epochs, seed=1))


def file_config(directory, pairs=None, **changes):
    source, target = write_files(directory, pairs or prose())
    names = {"src_file_name": str(source), "tgt_file_name": str(target)}
    place = str(directory / "cache")
    return DataConfig(**{"batch_size": 16, "cache_dir": place, **names, **changes})


def from_files(config, **wishes):
    request = {"devices": ["CPU:0"], "num_epochs": 1, "seed": 1, **wishes}
    return SOURCES["files"](Request(config, **request))


def texts(data):
    """All pairs that are trained on, as text."""
    source, target = data.vocabularies
    return sorted(
        Pair(source.decode(s[:n]), target.decode(t))
        for (batch,) in data.batches_from(0)
        for s, n, t, _ in zip(*(values.numpy() for values in batch))
    )


def test_the_table_has_every_dataset_of_the_flag():
    assert {"auto", *SOURCES} == set(DATASETS)


def test_a_resumed_run_goes_on_where_the_data_was():
    whole = list(itertools.islice(make().batches_from(0), 8))
    rest = list(itertools.islice(make().batches_from(5), 3))
    assert len(rest) == 3
    for (one,), (other,) in zip(whole[5:], rest):
        np.testing.assert_array_equal(one.source, other.source)


def test_the_plan_counts_what_is_left_out_and_the_padding():
    data = make(dataclasses.replace(CONFIG, src_max_len=3))
    assert "24 training pairs (0 empty and 16 too long left out)" in data.description["data"]
    assert "2 length buckets" in data.description["input"]
    assert f"{100 * data.padding_share:.1f} % of their places padding" in data.description["input"]
    assert data.vocabulary_sizes == (3 + 41, 3 + 1)


def test_epochs_have_an_end_and_none_have_not():
    assert make().num_batches is None
    assert len(list(make(num_epochs=2).batches_from(0))) == make(num_epochs=2).num_batches


def test_sentences_that_are_all_too_long_are_refused():
    message = r"none of 40 .*: 0 have an empty side, 40 are over .*--tgt_max_len=1; give"
    with pytest.raises(UserError, match=message):
        make(dataclasses.replace(CONFIG, tgt_max_len=1))


def test_files_are_trained_on_as_they_are(tmp_path):
    data = from_files(file_config(tmp_path))
    assert texts(data) == sorted(prose())
    assert data.spaces == (None, None)
    assert not data.tokenized


def test_several_files_and_gzip_make_one_corpus(tmp_path):
    pairs = prose()
    write_files(tmp_path, pairs[:100], "a.0")
    write_files(tmp_path, pairs[100:], "a.1")
    for path in tmp_path.glob("a.1.*"):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    config = file_config(
        tmp_path, src_file_name=f"{tmp_path}/a.*.en*", tgt_file_name=f"{tmp_path}/a.*.de*"
    )
    assert texts(from_files(config)) == sorted(pairs)


def test_the_second_run_encodes_nothing(tmp_path, capsys, monkeypatch):
    config = file_config(tmp_path)
    first = texts(from_files(config))
    assert capsys.readouterr().out.count("; kept in ") == 3
    monkeypatch.setattr(sources.text_files, "read_pairs", lambda *_: iter(()))
    assert texts(from_files(config)) == first
    assert capsys.readouterr().out == ""


def test_lengths_may_change_without_encoding_anew(tmp_path, capsys):
    config = file_config(tmp_path)
    from_files(config)
    capsys.readouterr()
    shorter = from_files(dataclasses.replace(config, src_max_len=9))
    assert capsys.readouterr().out == ""
    assert max(int(max(batch.source_lengths)) for (batch,) in shorter.batches_from(0)) == 9


def test_a_changed_file_is_encoded_anew(tmp_path):
    texts(from_files(file_config(tmp_path)))
    changed = prose()[:300]
    assert texts(from_files(file_config(tmp_path, changed))) == sorted(changed)


def test_a_damaged_cache_is_made_anew_and_says_so(tmp_path, capsys):
    config = file_config(tmp_path)
    first = texts(from_files(config))
    (ids,) = (tmp_path / "cache" / "pairs").glob("*/target.ids")
    ids.write_bytes(ids.read_bytes()[:-2])
    capsys.readouterr()
    assert texts(from_files(config)) == first
    assert "is damaged (target.ids is cut off) and is made anew" in capsys.readouterr().out


def test_files_to_be_judged_by_are_read_test_before_dev(tmp_path):
    dev = [str(path) for path in write_files(tmp_path, prose()[:3], "dev")]
    test = [str(path) for path in write_files(tmp_path, prose()[5:7], "test")]
    config = file_config(tmp_path, dev_src_file_name=dev[0], dev_tgt_file_name=dev[1])
    assert from_files(config).test == prose()[:3]
    config = dataclasses.replace(config, test_src_file_name=test[0], test_tgt_file_name=test[1])
    assert from_files(config).test == prose()[5:7]


def test_a_dev_set_without_sentences_is_one_line(tmp_path):
    source, target = write_files(tmp_path, [Pair("", "a b"), Pair("c", " ")], "dev")
    config = file_config(tmp_path, dev_src_file_name=str(source), dev_tgt_file_name=str(target))
    with pytest.raises(UserError, match=r"every pair of .* has an empty side; name files with"):
        from_files(config)


def test_wmt14_goes_either_way(tmp_path):
    prepare_wmt14(tmp_path, prose())
    config = DataConfig(data_dir=str(tmp_path), cache_dir=str(tmp_path / "c"), batch_size=16)
    for reverse in (False, True):
        turned = dataclasses.replace(config, reverse=reverse)
        data = SOURCES["wmt14"](Request(turned, ["CPU:0"], 1, 1, test=True))
        step = slice(None, None, -1) if reverse else slice(None)
        assert texts(data) == sorted(Pair(*pair[step]) for pair in prose())
        assert data.test[0] == prose()[0][step]


def test_the_demo_corpus_goes_either_way():
    data = from_splits(
        "toy", SPLITS, Request(dataclasses.replace(CONFIG, reverse=True), ["CPU:0"], 1, 1)
    )
    assert data.vocabulary_sizes == (3 + 1, 3 + 41)
    assert data.test[0] == Pair(PAIRS[0].target, PAIRS[0].source)


def test_characters_have_a_space_on_both_sides(tmp_path):
    data = from_files(file_config(tmp_path, vocab_type="char", src_max_len=200, tgt_max_len=200))
    assert None not in data.spaces
    assert texts(data) == sorted(prose())
