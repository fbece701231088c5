import multiprocessing
import os
import signal
import time

import pytest

from input_pipeline import cache
from nmt.errors import UserError


def test_a_thing_is_built_once(tmp_path):
    built = []

    def build(part):
        built.append(part)
        part.write_text("x")

    path = tmp_path / "deep" / "thing"
    assert cache.kept(path, build) == cache.kept(path, build) == path
    assert path.read_text() == "x"
    assert len(built) == 1


def test_what_fails_leaves_nothing_behind(tmp_path):
    def build(part):
        part.mkdir()
        (part / "half").write_text("x")
        raise UserError("bad text")

    with pytest.raises(UserError, match="bad text"):
        cache.kept(tmp_path / "thing", build)
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]


def test_a_place_without_write_access_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        UserError, match=r"cannot be written to: .*; make room or name .*--cache_dir"
    ):
        cache.kept(tmp_path / "file" / "thing", lambda part: part.write_text("x"))


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    def build(part):
        part.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="cannot be written to: No space left on device; make room"):
        cache.kept(tmp_path / "thing", build)
    assert not (tmp_path / "thing").exists()
    assert not (tmp_path / "thing.part").exists()


def build_slowly(path, log, seconds):
    def build(part):
        part.mkdir()
        with open(log, "a") as file:
            file.write("built\n")
        time.sleep(seconds)
        (part / "a").write_text("whole")

    cache.kept(path, build, told=lambda text: None)
    assert (path / "a").read_text() == "whole"


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
