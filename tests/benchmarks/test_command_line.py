import subprocess
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import costs, faults, optimizers, settings, soak, ways, workload
from benchmarks.command_line import Parser
from nmt.errors import UserError

COUNTED = "cannot be used; give a whole number of at least 1"


def ended(main, argv, capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(argv)
    return exit_info.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    ("module", "flag", "said"),
    [
        (bench, "--rounds=0", f"benchmarks: --rounds=0 {COUNTED}"),
        (costs, "--rounds=-1", f"benchmarks.costs: --rounds=-1 {COUNTED}"),
        (costs, "--curve=x", "benchmarks.costs: --curve: invalid choice: 'x'"),
        (settings, "--rounds", "benchmarks.settings: --rounds: expected one argument; see --help"),
        (optimizers, "--rounds=x", f"compare_optimizers.sh: --rounds=x {COUNTED}"),
        (ways, "--rounds=0", f"benchmarks.ways: --rounds=0 {COUNTED}"),
        (ways, "--only=zzz", "benchmarks.ways: --only=zzz is in no name; give a part of one: two"),
        (faults, "--times=0", f"benchmarks.faults: --times=0 {COUNTED}"),
        (faults, "--only=zzz", "benchmarks.faults: --only=zzz is in no name; give a part of one:"),
        (settings, "--output_dir=x", "benchmarks.settings: --output_dir would let each cell go on"),
        (settings, "--num_epochs=1", "benchmarks.settings: --num_epochs is not how cells are"),
        (soak, "--minutes=nan", "benchmarks.soak: --minutes=nan cannot be used; give 10 or more"),
        (soak, "--dataset=foo", "benchmarks.soak: --dataset=foo cannot be used; choose one of"),
        (workload, "--seed=1", "benchmarks.workload: the following arguments are required: path"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(module, flag, said, monkeypatch, capsys):
    monkeypatch.setattr(soak.subprocess, "Popen", None)
    code, streams = ended(module.main, [flag], capsys)
    assert code == 2
    assert streams.err.startswith(said)
    assert streams.err.count("\n") == 1
    assert not streams.out


def test_all_mistakes_of_train_pys_flags_are_said(tmp_path, capsys):
    argv = [str(tmp_path / "work.npz"), "--num_unist=8", "--batch_size=0"]
    code, streams = ended(workload.main, argv, capsys)
    assert code == 2
    assert [line.split()[:2] for line in streams.err.splitlines()] == [
        ["benchmarks.workload:", "--num_unist"],
        ["benchmarks.workload:", "--batch_size=0"],
    ]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("module", [bench, costs, faults, optimizers, settings, soak, ways])
def test_help_shows_the_call_and_the_docstring(module, capsys):
    code, streams = ended(module.main, ["--help"], capsys)
    assert code == 0
    assert streams.out.startswith(("usage: python -m benchmarks", "usage: sh scripts/"))
    assert module.__doc__ in streams.out


def test_help_that_argparse_does_not_know_is_help_too(capsys):
    parser = Parser("python -m test", "Does nothing.")
    code, streams = ended(parser.train_config, ["--h"], capsys)
    assert code == 0
    assert "Does nothing." in streams.out


def test_help_writes_no_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert ended(workload.main, ["--help"], capsys)[0] == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("problem", [UserError("too long"), FileNotFoundError(2, "gone", "a.en")])
def test_work_that_cannot_be_written_is_one_line(problem, monkeypatch, capsys):
    def fail(config):
        raise problem

    monkeypatch.setattr(workload, "arrays_of", fail)
    code, streams = ended(workload.main, ["work.npz", "--dataset=demo"], capsys)
    assert code == 2
    assert streams.err in (
        "benchmarks.workload: too long\n",
        "benchmarks.workload: a.en cannot be used: gone\n",
    )


MODULES = ["__main__", "costs", "decoding", "faults", "optimizers", "settings", "soak"]


@pytest.mark.parametrize("module", [*MODULES, "ways", "workload"])
def test_help_does_not_wait_for_tensorflow(module):
    program = (
        f"import contextlib, sys\nfrom benchmarks import {module} as module\n"
        "with contextlib.suppress(SystemExit):\n    module.main(['--help'])\n"
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
