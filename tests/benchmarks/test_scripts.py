"""Scripts whose figures are measured by hand, and those that prepare and train."""

import subprocess
import sys
from pathlib import Path

import control_shuffled_targets as control
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("flag", ["--dataset=files", "--use_synthetic_data", "--num_unist=8"])
def test_the_control_refuses_mistakes_in_one_line(flag, capsys):
    assert control.main([flag]) == 2
    said = capsys.readouterr().err
    assert said.startswith("control_shuffled_targets.py: ")
    assert said.count("\n") == 1


def test_the_control_has_help(capsys):
    assert control.main(["--help"]) == 0
    assert "on shuffled targets" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["prepare_wmt14.sh", "train_multi30k.sh"])
def test_scripts_do_not_take_flags_for_directories(name):
    script = SCRIPTS / name
    shown = run("sh", str(script), "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"sh scripts/{name}" in shown.stdout
    assert "#" not in shown.stdout
    refused = run("sh", str(script), "-x")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"{name}: -x is no directory; name one")
    assert refused.stderr.count("\n") == 1


def test_an_environment_without_tensorflow_text_is_one_line():
    done = run(sys.executable, str(SCRIPTS / "bench_tensorflow_text.py"))
    assert done.returncode == 2
    assert done.stderr.startswith("bench_tensorflow_text.py: No module named 'tensorflow_text'; ")
    assert done.stderr.count("\n") == 1
