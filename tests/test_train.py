"""The program as a user runs it, in processes of its own."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from scaling.cells import Cell
from scaling.rows import make_phases
from scaling.runs import Run

from benchmarks import optimizers
from tests.nmt.reporting.test_summaries import read as read_summaries

SMALL = [
    "--num_encoder_layers=2",
    "--num_decoder_layers=1",
    "--num_units=16",
    "--embedding_dim=16",
    "--batch_size=8",
    "--num_warmup_batches=2",
    "--num_batches=4",
    "--log_every=2",
]


def train(*argv, **options):
    command = [sys.executable, "train.py", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def test_the_seeds_synthetic_run_ends_with_table_and_json(tmp_path):
    path = tmp_path / "results.json"
    run = train(
        *SMALL,
        "--variable_update=replicated",
        "--independent_replica=true",
        "--src_max_len=10",
        "--use_synthetic_data=true",
        "--direction=bi",
        "--encoder_type=cudnn_lstm",
        "--num_replicas=2",
        f"--results_file={path}",
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert re.search(r"^\|2\|8\|\d+\.\d{3}\|\d+\.\d{3}\|\|$", run.stdout, re.MULTILINE)
    record = json.loads(path.read_text())
    assert record["variable_update"] == "independent"
    assert record["num_replicas"] == 2
    assert record["timed_batches"] == len(record["step_seconds"]) == 4
    assert record["timed_words"] == 4 * 2 * 8 * 2 * 10
    speed = record["timed_words"] / record["timed_seconds"]
    assert record["words_per_second"] == pytest.approx(speed)
    assert len(record["losses"]) == 6
    assert record["first_step_seconds"] > max(record["step_seconds"])
    assert record["seconds_to_first_step"] > record["first_step_seconds"]
    layer, projection = 4 * 16 * (16 + 16), 16 * 8000
    of_a_pair = 6 * (10 * 2 * layer + 10 * (layer + projection))
    pairs_per_s = record["words_per_second"] / 20
    assert record["model_flops_per_second"] == pytest.approx(pairs_per_s * of_a_pair)
    share = record["model_flops_per_second"] / record["matmul_flops_per_second"]
    assert record["flops_utilization"] == pytest.approx(share)
    assert 0 < share < 1


def test_results_are_appended_one_line_a_run_and_training_goes_on(tmp_path):
    path, out = tmp_path / "results.json", tmp_path / "out"
    argv = [*SMALL, "--dataset=demo", f"--results_file={path}", f"--output_dir={out}"]
    first = train(*argv)
    more = [*argv, "--num_batches=10", "--variable_update=parameter_server"]
    second = train(*more, "--encoder_type=cudnn_lstm")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "step 6" in second.stdout
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 2
    assert records[1]["losses"][0] < records[0]["losses"][0]
    assert sorted(path.name for path in out.glob("step-*")) == ["step-12", "step-6"]


def test_the_plan_comes_first_and_says_what_runs():
    run = train(*SMALL, "--num_replicas=3", "--variable_update=parameter_server")
    plan = run.stdout.split("batch     1/6")[0]
    for part in (
        "demo: built-in English-German corpus",
        "parameters",
        "global batch 24 = 3 x 8",
        "CPU:0, CPU:1, CPU:2",
        "parameter_server",
        "oneDNN on",
        "threads",
        "nothing: no --output_dir is given",
    ):
        assert part in plan


def test_evaluation_prints_bleu_and_translations(tmp_path):
    path = tmp_path / "results.json"
    run = train(*SMALL, "--evaluate", f"--results_file={path}", "--tgt_max_len=20")
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("translation ") == 5
    assert 0 <= json.loads(path.read_text())["bleu"] < 20


def test_all_mistakes_come_in_one_go_with_exit_code_2():
    run = train("--batch_size=0", "--direction=bi", "--num_encoder_layers=3", "--optimiser=sgd")
    assert run.returncode == 2
    assert run.stdout == ""
    lines = run.stderr.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("train.py: --") for line in lines)


def test_sentences_that_are_all_too_long_are_one_line_and_exit_code_2():
    run = train("--tgt_max_len=2")
    assert run.returncode == 2
    assert re.fullmatch(r"train.py: none of 40,000 training pairs .*larger lengths\n", run.stderr)


def test_another_models_checkpoint_is_one_line_and_exit_code_2(tmp_path):
    argv = [*SMALL, "--use_synthetic_data", "--src_max_len=4", f"--output_dir={tmp_path / 'out'}"]
    assert train(*argv).returncode == 0
    run = train(*argv, "--num_encoder_layers=1")
    assert run.returncode == 2
    assert [path.name for path in (tmp_path / "out").glob("step-*")] == ["step-6"]
    said = r"train.py: --num_encoder_layers=1 but \S+/step-6 was trained with \S+=2; give that .*\n"
    assert re.fullmatch(said, run.stderr)


def test_verbosity_brings_tensorflows_messages_back():
    quiet, loud = (
        train(*SMALL, "--use_synthetic_data", "--src_max_len=4", f"--verbosity={level}")
        for level in (0, 1)
    )
    assert quiet.stderr == ""
    assert loud.stderr != ""


def test_a_loss_that_is_not_a_number_stops_the_run_and_saves_nothing(tmp_path):
    argv = [*SMALL, "--use_synthetic_data", "--src_max_len=4", "--optimizer=sgd"]
    wild = ["--learning_rate=1e38", "--max_gradient_norm=0", f"--output_dir={tmp_path / 'out'}"]
    run = train(*argv, *wild)
    assert run.returncode == 1
    said = r"train.py: the loss became (nan|inf) at step \d, with a gradient norm of \S+; .*"
    assert re.fullmatch(said + "the last good checkpoint is not there yet\n", run.stderr)
    assert not list((tmp_path / "out").glob("step-*"))


def test_steps_without_numbers_can_be_left_out(tmp_path):
    results = tmp_path / "results.json"
    argv = [*SMALL, "--use_synthetic_data", "--src_max_len=4", "--optimizer=sgd"]
    wild = ["--learning_rate=1e38", "--max_gradient_norm=0", "--skip_nan_steps"]
    run = train(*argv, *wild, f"--results_file={results}")
    assert (run.returncode, run.stderr) == (0, "")
    record = json.loads(results.read_text())
    assert record["skipped_steps"] == record["losses"].count(None) > 0
    assert f"({record['skipped_steps']} skipped)" in run.stdout


def start_long_run(tmp_path):
    """Training that has made its first 20 steps and would go on."""
    argv = [*SMALL, "--num_batches=1000000", "--use_synthetic_data", "--src_max_len=4"]
    argv += [f"--results_file={tmp_path / 'results.json'}", f"--output_dir={tmp_path / 'out'}"]
    process = subprocess.Popen(
        [sys.executable, "train.py", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    for line in process.stdout:
        if line.startswith("batch    20/"):
            break
    return process


def test_a_reader_that_leaves_costs_no_checkpoint(tmp_path):
    """As `| tee log` does at Ctrl-C."""
    process = start_long_run(tmp_path)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    with process.stderr:
        errors = process.stderr.read()
    assert process.wait(timeout=60) == 0
    said = "train.py: standard output cannot be written: Broken pipe; what follows is not shown"
    assert errors == f"{said}\n"
    losses = json.loads((tmp_path / "results.json").read_text())["losses"]
    assert (tmp_path / "out" / f"step-{len(losses)}" / "manifest.json").exists()


def test_a_log_on_a_full_disk_costs_a_line(tmp_path):
    argv = [*SMALL, "--use_synthetic_data", "--src_max_len=4"]
    command = [sys.executable, "train.py", *argv, f"--results_file={tmp_path / 'results.json'}"]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert run.returncode == 0
    assert run.stderr.count("No space left on device; what follows is not shown\n") == 1
    assert run.stderr.count("\n") == 1
    assert json.loads((tmp_path / "results.json").read_text())["timed_batches"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_with_the_summary_of_every_step_made(tmp_path, number):
    results = tmp_path / "results.json"
    process = start_long_run(tmp_path)
    time.sleep(0.2)
    process.send_signal(number)
    rest, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "the user wanted it" in rest
    assert re.search(r"^\|1\|8\|", rest, re.MULTILINE)
    record = json.loads(results.read_text())
    assert len(record["losses"]) == len(record["step_seconds"]) + 2
    assert f"step-{len(record['losses'])}" in rest
    assert record["ending"] == "broken_off"


def test_a_run_that_has_finished_only_judges_what_there_is(tmp_path):
    """As after a kill between the last checkpoint and the record."""
    results = tmp_path / "results.json"
    argv = [*SMALL, "--dataset=demo", "--tgt_max_len=20", f"--output_dir={tmp_path / 'out'}"]
    assert train(*argv).returncode == 0
    vocabulary = tmp_path / "out" / "vocabulary.source.words"
    vocabulary.write_bytes(vocabulary.read_bytes()[:-3])  # the checkpoint's is taken instead
    run = train(*argv, "--evaluate", f"--results_file={results}")
    assert (run.returncode, run.stderr) == (0, "")
    assert "nothing left to train; for more give more than --num_batches=4" in run.stdout
    record = json.loads(results.read_text())
    assert (record["timed_batches"], record["losses"]) == (0, [])
    assert 0 <= record["bleu"] < 20


def test_a_run_leaves_a_model_that_translates(tmp_path):
    out = tmp_path / "out"
    assert train(*SMALL, "--dataset=demo", f"--output_dir={out}").returncode == 0
    command = [sys.executable, "-m", "nmt.translate", f"--model={out}", "--max_length=5"]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=300, input="a man reads .\n\nhe sleeps ."
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert len(run.stdout.splitlines()) == 3


def test_a_look_inside_steps_is_in_the_log_the_record_and_where_others_open_it(tmp_path):
    path, out, chrome = (tmp_path / name for name in ("results.json", "out", "trace.json.gz"))
    looks = ["--report_phases", "--enable_profile", f"--trace_file={chrome}"]
    argv = [*SMALL, "--use_synthetic_data", "--src_max_len=4", "--num_replicas=2"]
    run = train(*argv, *looks, f"--output_dir={out}", f"--results_file={path}")
    assert (run.returncode, run.stderr) == (0, "")
    record = json.loads(path.read_text())
    assert record["timed_batches"] == 4
    assert record["operations_per_step"]["_MklMatMul"] > 0
    assert list(out.glob("profile/**/*.xplane.pb"))
    assert json.loads(gzip.decompress(chrome.read_bytes()))["traceEvents"]
    shown = [line.split("|")[1] for line in run.stdout.splitlines() if line.startswith("|")]
    assert {"input wait", "step", *optimizers.PHASES} <= set(shown)
    assert {f"phases/{name}" for name in optimizers.PHASES} <= set(read_summaries(out))
    cell = Cell("replicated", "dynamic_rnn", 2)
    (of_cell,) = make_phases([Run(cell, 1, record)]).values()
    for name in optimizers.PHASES:
        assert of_cell[name] == pytest.approx(optimizers.phase([record], name))
    assert of_cell["forward"] > 0
    assert of_cell["step"] == optimizers.step_seconds([record])
