"""Training on a user's own text, in processes of its own: good files, and each kind of bad ones."""

import gzip
import json
import os
import re
import subprocess

import pytest

from tests.corpora import prepare_wmt14, prose, write_files
from tests.test_train import SMALL, train

PAIRS = prose(300)
VOCABULARIES = ["--src_vocab_size=80", "--tgt_vocab_size=80"]
TINY = [*SMALL, "--batch_size=64", "--src_max_len=150", "--tgt_max_len=150", *VOCABULARIES]


def names(directory):
    return [f"--src_file_name={directory}/train.en", f"--tgt_file_name={directory}/train.de"]


def on_files(directory, *argv):
    place = f"--cache_dir={directory}/cache"
    return train(*TINY, *names(directory), place, *argv)


def test_files_in_an_empty_directory_to_a_table_and_bleu(tmp_path):
    write_files(tmp_path, PAIRS)
    results, test = tmp_path / "results.json", write_files(tmp_path, PAIRS[:4], "test")
    evaluate = ["--evaluate", f"--test_src_file_name={test[0]}", f"--test_tgt_file_name={test[1]}"]
    run = on_files(tmp_path, *evaluate, f"--results_file={results}", "--num_replicas=2")
    assert (run.returncode, run.stderr) == (0, "")
    assert "300 training pairs (0 empty and 0 too long left out)" in run.stdout
    assert "80 source and 80 target entries" in run.stdout
    assert "tok:13a" in run.stdout
    record = json.loads(results.read_text())
    assert record["dataset"] == "files"
    assert 0 <= record["input_wait_seconds"] < record["timed_seconds"]
    assert 0 < record["padding_share"] < 0.5


def test_characters_are_reported_beside_words(tmp_path):
    write_files(tmp_path, PAIRS)
    results = tmp_path / "results.json"
    lengths = ["--src_max_len=200", "--tgt_max_len=200", "--batch_words=2000", "--batch_size=64"]
    run = on_files(tmp_path, "--vocab_type=char", *lengths, f"--results_file={results}")
    assert run.returncode == 0, run.stderr
    assert re.search(r"^\|1\|2000 words\|.*\|\n\d+\.\d{3} characters/s$", run.stdout, re.MULTILINE)
    record = json.loads(results.read_text())
    assert 3 < record["characters_per_second"] / record["words_per_second"] < 8


def test_wmt14_is_taken_where_it_is_prepared(tmp_path):
    prepare_wmt14(tmp_path, PAIRS)
    run = train(*TINY, f"--data_dir={tmp_path}", f"--cache_dir={tmp_path}/cache", "--reverse")
    assert (run.returncode, run.stderr) == (0, "")
    assert "German to English, 300 training pairs" in run.stdout


BAD = {
    "of different length": ("train.de", b"eins\n", r"train.en has 300 lines, \S+ has 1; pairs are"),
    "a missing side": ("train.de", None, r"--tgt_file_name=\S+ matches no file; check the name"),
    "not utf-8": ("train.en", b"a\nb\n\xff\n" + b"x\n" * 297, "is not UTF-8 at line 3: .*iconv"),
    "empty": ("train.en", b"", "train.en is empty; name a file with one sentence a line"),
    "a nul byte": ("train.en", b"a\0b\n" + b"x\n" * 299, "has a NUL byte in line 1; it is damaged"),
    "a corrupt gzip": ("train.en", gzip.compress(b"x\n" * 300)[:-4], "train.en is damaged after"),
    "only empty lines": ("train.en", b"\n" * 300, "cannot learn a vocabulary from this text"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_are_one_line_and_exit_code_2_and_nothing_is_lost(tmp_path, kind):
    write_files(tmp_path, PAIRS)
    name, data, message = BAD[kind]
    path = tmp_path / name
    path.write_bytes(data) if data is not None else path.unlink()
    run = on_files(tmp_path)
    assert run.returncode == 2
    assert re.fullmatch(rf"train.py: [^\n]*{message}[^\n]*\n", run.stderr)
    assert not list(tmp_path.glob("cache/*/*.part"))
    assert path.exists() == (data is not None)
    if data is not None:
        assert path.read_bytes() == data


def test_windows_files_train_as_others_do(tmp_path):
    losses = []
    for name, end, start in (("unix", "\n", ""), ("windows", "\r\n", "\ufeff")):
        directory = tmp_path / name
        directory.mkdir()
        for path, side in zip(("train.en", "train.de"), zip(*PAIRS)):
            text = start + "".join(f"{line}{end}" for line in side)
            (directory / path).write_bytes(text.encode())
        run = on_files(directory, f"--results_file={directory}/results.json")
        assert run.returncode == 0, run.stderr
        losses.append(json.loads((directory / "results.json").read_text())["losses"])
    assert losses[0] == losses[1]


def test_all_lines_too_long_and_a_cache_that_cannot_be_written(tmp_path):
    write_files(tmp_path, PAIRS)
    run = on_files(tmp_path, "--src_max_len=1")
    assert run.returncode == 2
    assert (
        "none of 300 training pairs can be used: 0 have an empty side, 300 are over" in run.stderr
    )
    (tmp_path / "file").write_text("")
    run = on_files(tmp_path, f"--cache_dir={tmp_path}/file/cache")
    assert run.returncode == 2
    assert re.fullmatch(r"train.py: \S+ cannot be used: [^\n]*--cache_dir\n", run.stderr)


def test_the_script_for_multi30k_goes_from_files_to_bleu(tmp_path):
    for name, pairs in (("train", PAIRS), ("val", PAIRS[:8]), ("test_2016_flickr", PAIRS[8:16])):
        write_files(tmp_path, pairs, name)
    small = ["--num_units=16", "--embedding_dim=16", "--num_epochs=1", "--eval_every=2"]
    command = ["sh", "scripts/train_multi30k.sh", str(tmp_path), *small, *VOCABULARIES]
    out = tmp_path / "out"
    command += ["--src_max_len=150", "--tgt_max_len=150", f"--cache_dir={tmp_path}/cache"]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, "OUT": str(out)}
    )
    assert (run.returncode, run.stderr) == (0, "")
    trained, judged = map(json.loads, (out / "results.json").read_text().splitlines())
    assert len(trained["evaluations"]) >= 2
    assert judged["search"] == "beam of 5"
    assert (out / "learning_curve.png").exists()


def test_the_script_for_multi30k_says_what_is_missing(tmp_path):
    command = ["sh", "scripts/train_multi30k.sh", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith("/train.en cannot be read; name another directory\n")
