import csv
import json
import re

import pytest
from scaling import __main__ as program
from scaling import published, runs
from scaling.cells import (
    ENCODERS,
    ONE_REPLICA,
    STRATEGIES,
    BadRequest,
    Cell,
    make_cells,
    parse_names,
    parse_specs,
)
from scaling.cells import parse_counts as counts
from scaling.plots import stacked
from scaling.report import make_report
from scaling.rows import make_phases, make_rows, of_one_replica, speedup
from scaling.runs import Run, append, missing, read_runs
from scaling.tables import comparison, headlines, table, to_csv
from scaling.wishes import DEFAULTS, split


def run(cell, speed, number=1, **more):
    record = {
        "words_per_second": speed,
        "timed_seconds": 1000.0 / speed,
        "timed_batches": 20,
        "batch_size_per_replica": 32,
        "exchange_bytes_per_step": 2**20,
        "peak_memory_bytes": 3 * 2**20,
        "seconds_to_first_step": 4.0,
        "device": "CPU x",
        "exchange": "all-reduce pscpu",
        **more,
    }
    return Run(cell, number, record)


ONE, TWO = (Cell("replicated", "cudnn_lstm", n) for n in (1, 2))
ALONE = Cell(ONE_REPLICA, "cudnn_lstm", 2)
RUNS = [run(ONE, 100.0), run(TWO, 150.0), run(TWO, 170.0, 2), run(TWO, 160.0, 3), run(ALONE, 200.0)]


def test_the_faster_encoder_comes_first():
    assert ENCODERS == ("cudnn_lstm", "dynamic_rnn")


def test_published_curves_are_of_names_that_are_measured():
    for (strategy, encoder), speeds in published.WORDS_PER_S.items():
        assert strategy in STRATEGIES
        assert encoder in ENCODERS
        assert len(speeds) == 8


def test_counts_are_ranges_or_lists():
    assert counts("1..4") == [1, 2, 3, 4]
    assert counts("4,1") == [1, 4]
    for text in ("0..2", "x", "", "3..1", "1,,2"):
        with pytest.raises(BadRequest, match=r"write 1\.\.8 or 1,2,4"):
            counts(text)


def test_a_round_goes_through_all_cells_and_the_same_work_on_one_replica():
    cells = make_cells([1, 2], ["replicated"], ["cudnn_lstm"])
    assert [str(cell) for cell in cells] == [
        "one replica cudnn_lstm x1",
        "replicated cudnn_lstm x1",
        "one replica cudnn_lstm x2",
        "replicated cudnn_lstm x2",
    ]
    assert cells[2].flags(32)[2:] == ["--num_replicas=1", "--batch_size=64"]
    assert cells[3].flags(32)[2:] == ["--num_replicas=2", "--batch_size=32"]


def test_specs_are_compared_for_replicated_alone():
    cells = make_cells([2], ["replicated", "independent"], ["cudnn_lstm"], ["pscpu", "xring"])
    assert [cell.name for cell in cells] == [
        "one replica",
        "replicated pscpu",
        "replicated xring",
        "independent",
    ]
    assert [cell.flags(8)[0] for cell in cells[1:3]] == [
        "--all_reduce_spec=pscpu",
        "--all_reduce_spec=xring",
    ]


def test_a_cell_gets_the_flags_that_mean_something_to_it():
    given = [
        "--gradient_repacking=2",
        "--nocompact_gradient_transfer",
        "--local_parameter_device=cpu",
        "--sparse_gradients=dense",
        "--num_units=8",
    ]

    def used(*cell, spec=""):
        return Cell(*cell, spec).flags(8, given)[:-4]

    assert used("replicated", "cudnn_lstm", 2) == [given[0], given[1], given[3], given[4]]
    assert used("replicated", "cudnn_lstm", 1, spec="xring") == given[4:]
    assert used("parameter_server", "cudnn_lstm", 2) == given[2:]
    assert used("independent", "cudnn_lstm", 2) == given[4:]
    assert used(ONE_REPLICA, "cudnn_lstm", 2) == given[4:]


def test_rounds_are_interleaved_and_what_is_there_is_not_measured_again():
    todo = list(missing([ONE, TWO], 2, [run(ONE, 1.0, 1), Run(TWO, 1, None, "failed")]))
    assert todo == [(1, TWO), (2, ONE), (2, TWO)]


def test_rows_are_medians_and_speedups_real():
    rows = make_rows(RUNS)
    assert rows[TWO].words_per_s == 160.0
    assert (rows[TWO].low, rows[TWO].high, rows[TWO].rounds) == (150.0, 170.0, 3)
    assert speedup(rows[TWO], rows) == 1.6
    assert of_one_replica(rows[TWO], rows) == 0.8
    assert of_one_replica(rows[ONE], rows) is None


def test_the_table_is_the_seeds_table():
    assert table("replicated", "cudnn_lstm", make_rows(RUNS)).splitlines() == [
        "|Replicas|Batch size|Total time to process 20 batches (s)|"
        "Processing speed (words/s)|Speedup ratio|",
        "|:--|:--|:--|:--|:--|",
        "|1|32|10.000|100.000||",
        "|2|32|6.250|160.000|1.60|",
    ]


def test_the_comparison_has_shares_and_memory():
    rows = make_rows([*RUNS, run(Cell("independent", "cudnn_lstm", 2), 320.0)])
    lines = comparison(rows).splitlines()
    assert "|cudnn_lstm|2|replicated|160|150 to 170|3|0.50|0.80|3|4.0|" in lines
    assert lines[-1] == "|cudnn_lstm|1|replicated|100|100 to 100|1|||3|4.0|"


def test_the_headline_is_the_share_of_the_same_work_with_the_most_replicas():
    assert headlines(make_rows(RUNS)) == [
        "replicated, cudnn_lstm: 2 replicas reach 0.80 of one replica with the same work "
        "(all-reduce pscpu)"
    ]


def test_csv_has_every_cell():
    lines = list(csv.DictReader(to_csv(make_rows(RUNS)).splitlines()))
    assert [line["num_replicas"] for line in lines] == ["1", "2", "2"]
    assert float(lines[1]["of_one_replica"]) == 0.8


def test_the_report_is_self_contained_and_escapes_what_it_shows():
    failed = [Run(ONE, 1, None, "<script>alert(1)</script>")]
    page = make_report(make_rows(RUNS), failed, "run_scaling.sh <b>")
    assert page.count("<svg") == 6
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "Ideal is flat" in page
    assert "Ideal is flat" not in make_report(make_rows([run(ONE, 1.0, device="GPU a")]), [], "x")


def test_phases_are_shown_where_they_were_measured():
    def measured(forward):
        replicas = {"forward": [forward, forward + 1.0], "update": [0.5, 0.5]}
        return {"phase_seconds": {"replicas": replicas, "input_wait": 0.25, "step": 9.0}}

    runs = [run(TWO, 1.0, 1, **measured(1.0)), run(TWO, 1.0, 2, **measured(2.0)), run(ONE, 1.0)]
    phases = make_phases(runs)
    assert phases == {TWO: {"input wait": 0.25, "forward": 2.0, "update": 0.5, "step": 9.0}}
    assert list(stacked(list(phases.values()))) == [
        ("input wait", [0.0], [0.25]),
        ("forward", [0.25], [2.0]),
        ("update", [2.25], [0.5]),
    ]
    page = make_report(make_rows(runs), [], "x", phases)
    assert page.count("<svg") == 7
    assert all(f"<!-- {word} -->" in page for word in ("input wait", "forward", "update", "step"))


def test_a_line_that_was_broken_off_is_measured_again(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(run(ONE, 1.0).to_json() + "\n" + run(TWO, 1.0).to_json()[:30])
    assert [found.cell for found in read_runs(path)] == [ONE]
    append(run(TWO, 2.0), path)
    append(run(ONE, 3.0), path)
    assert [found.cell for found in read_runs(path)] == [ONE, TWO, ONE]


def test_a_cell_that_takes_too_long_or_fails_is_one_line(monkeypatch, tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(runs, "TRAIN", slow)
    assert runs.measure(ONE, [], 8, limit_s=0.2).error == "took longer than 0 s"
    broken = tmp_path / "broken.py"
    broken.write_text("import sys; sys.exit('train.py: no such thing')")
    monkeypatch.setattr(runs, "TRAIN", broken)
    assert runs.measure(ONE, [], 8, limit_s=60).error == "train.py: no such thing"


def test_cells_are_measured_and_the_rest_goes_on_where_one_fails(monkeypatch, tmp_path, capsys):
    def fake(cell, flags, batch_size, limit_s):
        return Run(cell, 0, None, "too bad") if cell == TWO else run(cell, 100.0)

    monkeypatch.setattr(program, "measure", fake)
    argv = ["--replicas=1,2", "--variable_update=replicated", "--encoder_type=cudnn_lstm"]
    argv += [f"--out={tmp_path}", "--rounds=2", "--num_units=8"]
    assert program.main(argv) == 1
    said = capsys.readouterr().out
    assert said.count("replicated cudnn_lstm x2: FAILED too bad") == 1  # not in every round
    assert "FAILED replicated cudnn_lstm x2: too bad" in said
    assert len(json.loads((tmp_path / "scaling.json").read_text())) == 3
    monkeypatch.setattr(program, "measure", lambda cell, *_: run(cell, 50.0))
    assert program.main(argv) == 0
    assert "1/2 round 1: replicated cudnn_lstm x2: 50 words/s" in capsys.readouterr().out
    assert program.main([*argv, "--num_units=9"]) == 2
    assert "has runs with other flags" in capsys.readouterr().err


def test_one_reason_for_all_cells_is_a_mistake_and_leaves_no_report(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "measure", lambda cell, *_: Run(cell, 0, None, "no such file"))
    assert program.main([f"--out={tmp_path}", "--rounds=1", "--replicas=1", "--num_units=9"]) == 2
    assert capsys.readouterr().err == ("run_scaling.sh: no cell could be measured: no such file\n")
    assert not (tmp_path / "report.html").exists()
    monkeypatch.setattr(program, "measure", lambda cell, *_: run(cell, 50.0))
    argv = [f"--out={tmp_path}", "--rounds=1", "--replicas", "1", "--num_units=8"]
    assert program.main(argv) == 0
    assert (tmp_path / "report.html").exists()


def test_breaking_off_is_one_line_and_the_next_call_goes_on(monkeypatch, tmp_path, capsys):
    def broken_off(cell, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "measure", broken_off)
    assert program.main([f"--out={tmp_path}", "--replicas=1"]) == 130
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("visible", "listed", "expected"),
    [
        ("0,2", "", 2),
        ("", "GPU 0: a", 0),
        ("-1", "", 0),
        (None, "GPU 0: a\nGPU 1: b", 2),
        (None, "NVIDIA-SMI has failed", 0),
    ],
)
def test_gpus_are_those_that_may_be_used(monkeypatch, visible, listed, expected):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(program.shutil, "which", lambda name: name)
    answer = program.subprocess.CompletedProcess([], 0, stdout=listed)
    monkeypatch.setattr(program.subprocess, "run", lambda *_, **__: answer)
    assert program.num_gpus() == expected


def test_a_spec_that_needs_more_replicas_is_left_out_where_there_are_fewer():
    cells = make_cells([1, 2, 3], ["replicated"], ["cudnn_lstm"], ["hierarchical_copy"])
    assert [cell.num_replicas for cell in cells if cell.all_reduce_spec] == [1, 3]


def test_help_is_printed_and_nothing_is_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "measure", None)
    assert program.main([f"--out={tmp_path}", "-help"]) == 0
    capsys.readouterr()
    assert program.main([f"--out={tmp_path}", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"--{name}=" in said for name in DEFAULTS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "flag",
    [
        "--replicas=no",
        "--encoder_type=gru",
        "--rounds=0",
        "--batch_size=many",
        "--all_reduce_spec=pscpu,no",
        "--batch_words=4000",
        "--num_epochs=1",
        "--noenable_profile",
        "-output_dir=run",
        "--unit=8",
        "--replicas",
        "--replicas=",
        "--out=",
        "--all_reduce_spec",
        "--",
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(flag, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(program, "measure", None)
    assert program.main([f"--out={tmp_path}", flag]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flag", "meant"),
    [("replica=1,2", "replicas"), ("num_replica=2", "replicas"), ("dropot=0.1", "dropout")],
)
def test_what_is_suggested_is_a_flag_that_can_be_used(flag, meant):
    with pytest.raises(BadRequest, match=rf"did you mean --{meant}\?$"):
        split([f"--{flag}"])


def test_a_flag_of_its_own_needs_a_value_where_it_is_not_said_to_be_empty():
    with pytest.raises(BadRequest, match="--out has no value; write --out=VALUE"):
        split(["--out", "--rounds=2"])
    assert split(["--all_reduce_spec="])[0]["all_reduce_spec"] == ""


def test_the_number_of_runs_is_said_before_the_first(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "measure", lambda cell, *_: run(cell, 50.0))
    argv = ["--replicas=1,2", "--variable_update=replicated", "--encoder_type=cudnn_lstm"]
    argv.append(f"--out={tmp_path}")
    assert program.main([*argv, "--rounds=1"]) == 0
    assert capsys.readouterr().out.startswith("4 run(s): 4 cell(s) x 1 round(s)\n1/4 round 1: ")
    assert program.main([*argv, "--rounds=2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("8 run(s): 4 cell(s) x 2 round(s); 4 are there already\n1/4 round 2: ")


def test_values_may_follow_after_a_space():
    mine, rest = split(["--rounds", "2", "--gradient_repacking", "4", "--evaluate"])
    assert mine["rounds"] == "2"
    assert rest == ["--gradient_repacking=4", "--evaluate"]
    with pytest.raises(BadRequest, match="'4' is not a flag"):
        split(["--gradient_repacking=4", "4"])


def test_names_that_are_given_twice_are_measured_once():
    assert parse_names("encoder_type", "cudnn_lstm,cudnn_lstm", ENCODERS) == ["cudnn_lstm"]
    assert parse_specs("xring,pscpu,xring") == ["xring", "pscpu"]


def test_on_gpus_nothing_is_put_on_one_of_them():
    cells = make_cells([1, 2], ["replicated"], ["cudnn_lstm"], gpu=True)
    assert [str(cell) for cell in cells] == ["replicated cudnn_lstm x1", "replicated cudnn_lstm x2"]


def test_a_cell_that_lacks_a_round_is_named():
    runs = [run(ONE, 1.0, 1), Run(ONE, 2, None, "killed"), Run(TWO, 1, None, "x"), run(TWO, 2.0, 1)]
    assert [found.error for found in program.still_failed(runs)] == ["killed"]


def test_the_tables_of_a_real_run(tmp_path, capsys):
    argv = ["--replicas=2", "--variable_update=replicated", "--encoder_type=dynamic_rnn"]
    argv += ["--rounds=1", "--batch_size=4", f"--out={tmp_path}", "--dataset=demo"]
    argv += ["--num_units=8", "--embedding_dim=8", "--num_warmup_batches=1", "--num_batches=2"]
    assert program.main(argv) == 0
    alone, two = json.loads((tmp_path / "scaling.json").read_text())
    assert (alone["batch_size"], two["batch_size"]) == (8, 4)
    assert two["exchange_bytes"] > alone["exchange_bytes"] == 0
    assert "all-reduce pscpu" in two["exchange"]
    assert two["words_per_s"] > 0
    assert "|dynamic_rnn|2|replicated|" in capsys.readouterr().out
    short = ["--num_epochs=1", "--src_max_len=6", "--tgt_max_len=6"]
    nothing = runs.measure(TWO, [*argv[7:9], *short], 40_000, limit_s=100)
    assert "no batch was timed" in nothing.error


def test_gpus_that_tensorflow_does_not_use_are_not_measured_as_if_it_did(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(program, "num_gpus", lambda: 2)
    monkeypatch.setattr(program, "measure", lambda cell, *_: run(cell, 50.0))
    assert program.main([f"--out={tmp_path}", "--replicas=1"]) == 2
    said = capsys.readouterr().err
    assert "2 GPU(s) are here, but TensorFlow ran on CPU x" in said
    assert said.count("\n") == 1


def test_results_of_another_processor_are_not_gone_on_with(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "measure", lambda cell, *_: run(cell, 50.0))
    argv = [f"--out={tmp_path}", "--replicas=1", "--rounds=1"]
    assert program.main(argv) == 0
    monkeypatch.setattr(program.cpu, "name", lambda: "another")
    assert program.main(argv) == 2
    assert "on another machine" in capsys.readouterr().err


def test_a_directory_that_cannot_be_made_is_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "measure", None)
    (tmp_path / "file").write_text("")
    assert program.main([f"--out={tmp_path / 'file'}", "--replicas=1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
