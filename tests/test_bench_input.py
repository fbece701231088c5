"""scripts/bench_input.py, whose figures are measured by hand."""

import gzip
import subprocess
import sys
from pathlib import Path

import bench_input
import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def test_ten_times_the_text_keeps_both_sides_apart(tmp_path):
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
    assert "missing.de" in done.stderr


@pytest.mark.parametrize(
    "argv", [[], ["--src_file_name=a", "--tgt_file_name=b", "--rounds=0"], ["--tenfold=maybe"]]
)
def test_a_mistake_is_one_line_and_exit_code_2(argv, capsys):
    with pytest.raises(SystemExit) as exit_info:
        bench_input.main(argv)
    assert exit_info.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("bench_input.py: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], "true"),
        (["--tenfold"], "true"),
        (["--tenfold=true"], "true"),
        (["--tenfold=false"], "false"),
        (["--notenfold"], "false"),
    ],
)
def test_ten_times_the_text_is_measured_unless_it_is_said(flags, expected):
    parser = bench_input.make_parser()
    given = parser.parse_args(["--src_file_name=a", "--tgt_file_name=b", *flags])
    assert given.tenfold == expected
    assert (given.rounds, given.train_batches) == (3, 20)


def test_a_cell_that_fails_ends_in_one_line(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise bench_input.Failed("bench_input.py: no memory")

    monkeypatch.setattr(bench_input, "run_cell", fail)
    files = [f"--{name}={tmp_path / name}" for name in bench_input.FILES]
    for name in bench_input.FILES:
        (tmp_path / name).write_text("a b\n")
    with pytest.raises(SystemExit) as exit_info:
        bench_input.main([*files, "--notenfold"])
    assert exit_info.value.code == 2
    assert capsys.readouterr().err == "bench_input.py: no memory\n"
