"""The flagfiles that come with the project."""

import re
import subprocess
from pathlib import Path

import pytest

from nmt import checks, flags

PRESETS = sorted(Path("presets").glob("*.flags"))
NEEDS_DATA = r"wmt14_translate/de-en is not in|--eval_every=\d+ needs --dev_src_file_name"


def test_there_is_one_for_every_purpose():
    names = [path.stem for path in PRESETS]
    assert names == ["demo", "multi30k", "wmt14_gnmt", "wmt14_seeds"]


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_is_understood_and_lacks_nothing_but_data(path):
    config, problems = flags.parse([f"--flagfile={path}"])
    assert problems == []
    found = checks.find_problems(config)
    assert [problem for problem in found if not re.search(NEEDS_DATA, problem)] == []


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_says_what_to_expect_and_whether_that_was_measured(path):
    comment = "".join(line for line in path.read_text().splitlines() if line.startswith("#"))
    assert re.search("Measured|Expected, not measured", comment)
    assert re.search(r"\d+(\.\d+)? BLEU", comment)
    assert re.search("minutes|hours|days", comment)


@pytest.mark.parametrize("flag", ["--output_dir=elsewhere", "--results_file=elsewhere"])
def test_the_script_judges_what_it_trained(tmp_path, flag):
    for name in ("train", "val", "test_2016_flickr"):
        for side in ("en", "de"):
            (tmp_path / f"{name}.{side}").touch()
    command = ["sh", "scripts/train_multi30k.sh", str(tmp_path), flag]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{flag} would lead elsewhere than what is judged; give OUT=DIR" in done.stderr
