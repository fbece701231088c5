"""scripts/bench_input.py, whose figures are measured by hand."""

import gzip
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def test_ten_times_the_text_keeps_both_sides_apart(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import bench_input

    flags = []
    for side in ("src", "tgt"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text(f"{side}\n")
        (tmp_path / side / "b.gz").write_bytes(gzip.compress(b"more\n"))
        flags.append(f"--{side}_file_name={tmp_path / side / 'a.txt'},{tmp_path / side / 'b.gz'}")
    made = [Path(flag.split("=")[1]).read_text() for flag in bench_input.tenfold(flags, tmp_path)]
    assert made == [10 * "src\nmore\n", 10 * "tgt\nmore\n"]


def test_a_file_that_is_not_there_is_one_line():
    command = [sys.executable, str(SCRIPTS / "bench_input.py")]
    command += ["--src_file_name=missing.en", "--tgt_file_name=missing.de"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert all(line.startswith("bench_input.py: ") for line in done.stderr.splitlines())
    assert "missing.en" in done.stderr
