"""The demo model translates what it has not seen; a control that cannot learn to does not."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def bleu(tmp_path, *command):
    path = tmp_path / "results.json"
    subprocess.run([sys.executable, *command, f"--results_file={path}"], check=True)
    return json.loads(path.read_text())["bleu"]


def test_the_demo_reaches_60_bleu(tmp_path):
    assert bleu(tmp_path, "train.py", "--flagfile=presets/demo.flags") >= 60


def test_shuffled_targets_do_not(tmp_path):
    assert bleu(tmp_path, "scripts/control_shuffled_targets.py") < 20
