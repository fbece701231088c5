import subprocess
import sys

import pytest

from nmt.errors import UserError
from nmt.storage import lock

HOLD = "import sys; from pathlib import Path; from nmt.storage import lock\n"
HOLD += "with lock.held(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


def test_a_second_run_is_told_who_is_there_and_gets_in_when_that_one_is_killed(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        said = f"is in use by process {other.pid}; wait for it or name another"
        with pytest.raises(UserError, match=said), lock.held(tmp_path):
            pass
        other.kill()
    with lock.held(tmp_path):
        assert (tmp_path / "lock").read_text().strip().isdigit()


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be used: Not a directory"):
        with lock.held(tmp_path / "file" / "out"):
            pass


def test_a_run_whose_directory_was_moved_takes_the_new_one_unless_another_has_it(tmp_path):
    place = tmp_path / "out"
    with lock.held(place) as mine:
        place.rename(tmp_path / "first")
        mine.renew()
        assert mine.is_held()
        place.rename(tmp_path / "second")
        with lock.held(place) as others:
            with pytest.raises(UserError, match="is in use by process"):
                mine.renew()
            assert others.is_held()
        mine.renew()
        assert mine.is_held()
