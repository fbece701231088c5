import subprocess
import sys

import pytest

from nmt import lock
from nmt.errors import UserError

HOLD = "import sys; from pathlib import Path; from nmt import lock\n"
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
