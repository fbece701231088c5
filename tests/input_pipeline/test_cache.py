import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from input_pipeline import cache
from nmt.errors import UserError


def keep(path, build, load=lambda path: path.read_text()):
    return cache.kept(path, build, load, "--cache_dir")


def test_a_thing_is_built_once(tmp_path):
    built = []

    def build(part):
        built.append(part)
        part.write_text("x")

    path = tmp_path / "deep" / "thing"
    assert keep(path, build) == keep(path, build) == "x"
    assert len(built) == 1


def test_what_fails_leaves_nothing_behind(tmp_path):
    def build(part):
        part.mkdir()
        (part / "half").write_text("x")
        raise UserError("bad text")

    with pytest.raises(UserError, match="bad text"):
        keep(tmp_path / "thing", build)
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]


def test_a_place_without_write_access_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be used: .*; make room.* with --cache_dir"):
        keep(tmp_path / "file" / "thing", lambda part: part.write_text("x"))


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    def build(part):
        part.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="cannot be used: No space left on device; make room"):
        keep(tmp_path / "thing", build)
    assert not (tmp_path / "thing").exists()
    assert not (tmp_path / "thing.part").exists()


def build_slowly(path, log, seconds):
    def build(part):
        part.mkdir()
        with open(log, "a") as file:
            file.write("built\n")
        time.sleep(seconds)
        (part / "a").write_text("whole")

    assert keep(path, build, lambda place: (place / "a").read_text()) == "whole"


def start(path, log, seconds):
    process = multiprocessing.get_context("spawn").Process(
        target=build_slowly, args=(path, log, seconds)
    )
    process.start()
    return process


def test_runs_that_want_the_same_thing_build_it_once(tmp_path):
    path, log = tmp_path / "thing", tmp_path / "log"
    processes = [start(path, log, 0.5) for _ in range(3)]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert log.read_text() == "built\n"


def test_what_a_killed_run_left_is_not_used(tmp_path):
    path, log = tmp_path / "thing", tmp_path / "log"
    first = start(path, log, 600)
    while not log.exists():
        time.sleep(0.05)
    os.kill(first.pid, signal.SIGKILL)
    first.join(60)
    assert not path.exists()
    build_slowly(path, log, 0)
    assert log.read_text() == "built\nbuilt\n"


def test_other_facts_have_another_key():
    assert cache.key(a=[1, "x"]) == cache.key(a=(1, "x"))
    assert cache.key(a=[1, "x"]) != cache.key(a=[1, "y"])


def test_what_is_damaged_is_built_anew_and_said(tmp_path, capsys):
    def load(path):
        if path.read_text() != "whole":
            raise cache.Damaged("cut off")
        return "whole"

    path = tmp_path / "thing"
    path.write_text("half")
    assert keep(path, lambda part: part.write_text("whole"), load) == "whole"
    assert "thing is damaged (cut off) and is made anew" in capsys.readouterr().out


def test_what_cannot_be_read_back_is_one_line(tmp_path):
    def load(path):
        raise cache.Damaged("cut off")

    with pytest.raises(
        UserError, match=r"written but cannot be read back \(cut off\); use another"
    ):
        keep(tmp_path / "thing", lambda part: part.write_text("x"), load)


PLACES = """
import os, pathlib, sys
sys.path.insert(0, os.getcwd())
from input_pipeline import cache
from nmt.errors import UserError
os.setuid(65534)
for place in sys.argv[1:]:
    try:
        cache.kept(pathlib.Path(place), lambda p: p.write_text("x"), pathlib.Path.read_text, "--f")
    except UserError as error:
        print(error)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_directories_of_somebody_else_are_one_line():
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to others
        home = Path(name)
        home.chmod(0o755)
        (home / "closed").mkdir(mode=0o700)
        (home / "fixed").mkdir(mode=0o755)
        (home / "fixed" / "secret").write_text("x")
        (home / "fixed" / "secret").chmod(0o600)
        places = [home / "closed" / "a", home / "fixed" / "b", home / "fixed" / "secret"]
        command = [sys.executable, "-c", PLACES, *map(str, places)]
        done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stderr
    assert all("cannot be used: Permission denied; make room" in line for line in lines)
