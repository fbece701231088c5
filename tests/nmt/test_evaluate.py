import json
import os
import subprocess
import sys

import pytest

from nmt import evaluate
from tests.nmt.storage.test_model_dir import save


@pytest.fixture
def model(tmp_path):
    save(tmp_path)
    return str(tmp_path)


def test_a_test_set_is_scored_and_kept(model, tmp_path, capsys):
    (tmp_path / "test.en").write_text("s1 s2\n\ns3\n")
    (tmp_path / "test.de").write_text("t1 t2\n\nt3\n")
    argv = [f"--model={model}", f"--src={tmp_path / 'test.en'}", f"--ref={tmp_path / 'test.de'}"]
    argv += ["--beam_width=2", f"--results_file={tmp_path / 'scores.json'}"]
    assert evaluate.main(argv) == 0
    said = capsys.readouterr().out
    assert "on 3 test sentences (beam of 2, sacreBLEU nrefs:1" in said
    record = json.loads((tmp_path / "scores.json").read_text())
    assert record["sentences"] == 3
    assert record["checkpoint"] == "step-0"
    assert said.startswith("step-0: BLEU ")
    assert 0 <= record["bleu"] <= 100
    assert f"chrF {record['chrf']:.2f} (nrefs:1" in said


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--model=."], "--src is missing; name a file with one sentence a line"),
        (["--model=.", "--src=no"], "--src=no does not exist; name another file"),
        (["--model=.", "--src=nmt"], "--src=nmt is a directory; name a file in it"),
        ([], "--model is missing; name the --output_dir of a training run"),
        (
            ["--results_file=no/where"],
            "--results_file=no/where is in a directory that does not exist; make it first",
        ),
    ],
)
def test_a_mistake_is_one_line(argv, said, capsys):
    assert evaluate.main(argv) == 2
    assert f"nmt.evaluate: {said}\n" in capsys.readouterr().err


def test_files_of_unequal_length_are_refused(model, tmp_path, capsys):
    (tmp_path / "test.en").write_text("s1\ns2\n")
    (tmp_path / "test.de").write_text("t1\n")
    argv = [f"--model={model}", f"--src={tmp_path / 'test.en'}", f"--ref={tmp_path / 'test.de'}"]
    assert evaluate.main(argv) == 2
    assert "has 2 lines" in capsys.readouterr().err


def test_a_full_disk_costs_the_record_and_not_the_score(model, tmp_path, capsys):
    (tmp_path / "test.en").write_text("s1 s2\n")
    (tmp_path / "test.de").write_text("t1 t2\n")
    argv = [f"--model={model}", f"--src={tmp_path / 'test.en'}", f"--ref={tmp_path / 'test.de'}"]
    assert evaluate.main([*argv, "--results_file=/dev/full"]) == 1
    said = capsys.readouterr()
    assert "BLEU" in said.out
    assert said.err.count("\n") == 1
    assert "No space left on device" in said.err


def test_a_reader_that_leaves_is_no_mistake(model, tmp_path):
    (tmp_path / "test.en").write_text("s1 s2\n")
    (tmp_path / "test.de").write_text("t1 t2\n")
    command = [sys.executable, "-m", "nmt.evaluate", f"--model={model}"]
    command += [f"--src={tmp_path / 'test.en'}", f"--ref={tmp_path / 'test.de'}"]
    command += [f"--results_file={tmp_path / 'scores.json'}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.close()
        assert (process.wait(120), process.stderr.read()) == (0, b"")
    assert (tmp_path / "scores.json").read_text().count("\n") == 1


PRINTING = """
import sys
from nmt import evaluate, programs
def run(config):
    print("\u201eGr\u00fc\u00dfe", flush=True)
sys.exit(programs.main(evaluate.PROGRAM, [], lambda config: [], run))
"""


def printing(stdout, **environment):
    command = [sys.executable, "-c", PRINTING]
    whole = {**os.environ, **environment}
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, env=whole, timeout=120)


def test_standard_output_on_a_full_disk_is_one_line():
    with open("/dev/full", "wb") as full:
        done = printing(full)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "nmt.evaluate: a file cannot be used: No space left on device\n"
    )


def test_text_that_the_locale_lacks_is_shown_all_the_same():
    done = printing(subprocess.PIPE, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == "\\u201eGr\u00fc\u00dfe\n".encode("latin-1")
