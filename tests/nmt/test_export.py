"""A model that is exported is loaded where nothing of this project is."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from nmt import export
from nmt.search import search_flags
from nmt.search.search_flags import SearchConfig
from tests import corpora, small
from tests.nmt.storage.test_model_dir import CONFIG, save
from tests.test_train_on_files import on_files

LINES = ["s1 s2 s3", "", "s4", " \u00a0\u3000", "s5 s1 unknown s7 s8 s2"]
LOAD = """
import json, sys
import tensorflow as tf
served = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
for lines in json.loads(sys.stdin.read()):
    found = served(sentences=tf.constant(lines, tf.string))
    texts = [text.decode() for text in found["translations"].numpy()]
    print(json.dumps([texts, found["scores"].numpy().tolist()]))
foreign = ("nmt", "input_pipeline", "sentencepiece")
assert not [name for name in sys.modules if name.split(".")[0] in foreign]
"""


LIKE_THE_PRESETS = {"encoder_type": "cudnn_lstm", "direction": "bi", "attention": "scaled_luong"}
TIED = {"encoder_type": "cudnn_lstm", "tied_embeddings": True, "embedding_dim": 8}


@pytest.mark.parametrize(
    ("width", "model"),
    [
        (1, {}),
        (3, LIKE_THE_PRESETS),
        (3, {**LIKE_THE_PRESETS, "attention": "normed_bahdanau", "residual": True}),
        (2, {**TIED, "attention": "none"}),
    ],
    ids=["plain", "as in the presets", "bahdanau", "tied"],
)
def test_it_translates_as_the_model_does_without_this_project(tmp_path, width, model):
    config = dataclasses.replace(
        CONFIG, model=small.model_config(**{"attention": "luong", **model})
    )
    save(tmp_path / "model", step=3, config=config, **model)
    translates_as_the_model(tmp_path, width, [LINES, ["s2"], [""], []])


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_it_cuts_text_into_pieces_without_sentencepiece(tmp_path, kind):
    corpora.write_files(tmp_path, corpora.prose())
    done = on_files(tmp_path, f"--vocab_type={kind}", f"--output_dir={tmp_path / 'model'}")
    assert done.returncode == 0, done.stderr
    text = [pair.source for pair in corpora.prose(20)]
    translates_as_the_model(tmp_path, 2, [text, ["", " \u00a0", "Grüße, ﬁne ½ 日本語"], []])


def translates_as_the_model(tmp_path, width, asked):
    """Exports what is in `model` and asks it in a process without this project."""
    flags = [f"--model={tmp_path / 'model'}", f"--beam_width={width}"]
    assert export.main([*flags, f"--to={tmp_path / 'served' / '1'}"]) == 0
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOAD, str(tmp_path / "served" / "1")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    config = SearchConfig(model=str(tmp_path / "model"), beam_width=width)
    translator = search_flags.load_translator(config)
    for lines, (texts, scores) in zip(asked, answers, strict=True):
        expected = [found[0] for found in translator.n_best(lines)]
        assert texts == [one.text for one in expected]
        assert scores == pytest.approx([one.score for one in expected], rel=1e-4)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "nmt.export: --model is missing; name the --output_dir of a training run"),
        (["--model=."], "nmt.export: --to is missing; name a directory that is not there yet"),
        (["--to=."], "nmt.export: --to=. is there already; name another directory"),
        (["--model=.", "--to=train.py/1"], "nmt.export: --to=train.py/1 cannot be made: "),
        (["--batch_size=3"], "nmt.export: --batch_size does nothing here: what is asked at once"),
    ],
)
def test_mistakes_are_one_line_each(argv, said, capsys):
    assert export.main(argv) == 2
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith(said) for line in lines)
    assert all(line.startswith("nmt.export: --") for line in lines)
