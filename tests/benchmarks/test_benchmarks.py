import json
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import costs, optimizers, rounds, settings, workload
from benchmarks.command_line import Parser
from benchmarks.peers import work


def record(speed, words=100, **more):
    return {"words_per_second": speed, "timed_words": words, "losses": [9.0, 8.5], **more}


def ours(speed, words=100):
    return record(
        speed, words, model_flops_per_second=10.0 * speed, matmul_flops_per_second=20_000.0
    )


def parse(*flags):
    return rounds.parse(Parser("test", ""), flags, [], 1)


def test_rounds_go_through_all_cells_in_turn_and_past_one_that_fails(capsys):
    order = []

    def cell(name, speed):
        def run():
            order.append(name)
            if name == "bad":
                raise rounds.Failed("no memory")
            return record(speed + len(order))

        return run

    found = rounds.measure({"a": cell("a", 10), "bad": cell("bad", 0), "b": cell("b", 20)}, 2)
    assert order == ["a", "bad", "b"] * 2
    assert {name: len(records) for name, records in found.items()} == {"a": 2, "b": 2}
    assert "round 2: bad: FAILED no memory" in capsys.readouterr().out


def test_what_cannot_be_compared_ends_the_first_round():
    cells = {"a": lambda: record(1.0, words=100), "b": lambda: record(1.0, words=99)}
    asked = []

    def check(found):
        asked.append(len(found))
        bench.comparable(found)

    with pytest.raises(SystemExit, match="words differ"):
        rounds.measure(cells, 3, check)
    assert asked == [2]


def test_breaking_off_keeps_what_was_measured():
    def broken():
        raise KeyboardInterrupt

    found = rounds.measure({"a": lambda: record(1.0), "b": broken}, 3)
    assert list(found) == ["a"]


def test_a_process_that_fails_is_reported_with_its_last_words():
    with pytest.raises(rounds.Failed, match="out of paper"):
        rounds.output_of([sys.executable, "-c", "import sys; sys.exit('out of paper')"])


def test_a_process_gets_the_settings_it_is_measured_with():
    command = [sys.executable, "-c", "import os; print(os.environ['TF_ENABLE_ONEDNN_OPTS'])"]
    setting = settings.SETTINGS["oneDNN off"]
    assert rounds.output_of(command, setting.environment) == "0\n"


def test_settings_are_compared_with_train_pys_own():
    def found(speed):
        more = {"round": 1, "seconds_to_first_step": 6.0, "peak_memory_bytes": 2**30}
        return [record(speed, **more)]

    own, other = list(settings.SETTINGS)[:2]
    assert settings.SETTINGS[own] == settings.Setting()
    lines = settings.summary({own: found(200.0), other: found(150.0)}).splitlines()
    assert lines[2] == f"|{own}|200|1.00 (1.00 to 1.00)|6.0|1,024|"
    assert lines[3] == f"|{other}|150|0.75 (0.75 to 0.75)|6.0|1,024|"
    only = settings.summary({other: found(150.0)}).splitlines()[2]
    assert only == f"|{other}|150||6.0|1,024|"


@pytest.mark.parametrize("setting", settings.SETTINGS.values())
def test_train_py_takes_the_flags_of_settings(setting):
    parse(*settings.DEFAULTS, *setting.flags)


@pytest.mark.parametrize("module", [bench, costs, optimizers, settings])
def test_a_mistake_is_refused_before_anything_is_measured(module, capsys):
    with pytest.raises(SystemExit) as exit_info:
        module.main(["--num_unist=3"])
    assert exit_info.value.code == 2
    assert "did you mean --num_units?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flag",
    [
        *("--direction=uni", "--num_encoder_layers=2", "--attention=luong", "--dropout=0.1"),
        *("--embedding_dim=64", "--optimizer=sgd", "--max_gradient_norm=1", "--batch_size=30"),
        *("--num_intra_threads=1", "--deterministic"),
    ],
)
def test_a_model_that_the_peers_are_not_written_for_is_refused(flag, capsys):
    with pytest.raises(SystemExit) as exit_info:
        bench.main([flag])
    assert exit_info.value.code == 2
    said = capsys.readouterr().err
    assert flag.split("=")[0] in said
    assert said.count("\n") == 1


def test_the_comparison_shows_ratios_of_medians_and_the_share_of_the_best_matmul_rate():
    torch = [record(speed, matmul_flops_per_second=40_000.0) for speed in (900, 1000, 1200)]
    mine = [ours(speed) for speed in (1500, 1600, 1300)]
    numbered = [[r | {"round": n} for n, r in enumerate(of)] for of in (mine, torch)]
    found = dict(zip(("cudnn_lstm", "PyTorch, nn.LSTM"), numbered))
    line = bench.summary(found).splitlines()[2].split("|")
    assert line[1:5] == ["cudnn_lstm", "1,500", "1,300 to 1,600", "1.50 (1.08 to 1.67)"]
    assert line[8:11] == [
        "0.38",
        "9.000",
        "8.500",
    ]  # 10 x 1,500 of 40,000: the other library is faster


def test_ratios_are_those_of_one_round():
    ours_failed_first = [record(20.0, round=2), record(30.0, round=3)]
    theirs = [record(10.0, round=1), record(20.0, round=2), record(60.0, round=3)]
    assert rounds.ratio(ours_failed_first, theirs) == "1.25 (0.50 to 1.00)"
    assert rounds.ratio([record(1.0, round=1)], [record(2.0, round=2)]) == "0.50"


def test_where_all_of_ours_failed_the_others_are_shown():
    lines = bench.summary({"OpenNMT-tf": [record(5.0, round=1)]}).splitlines()
    assert lines[2].endswith("|1.00 (1.00 to 1.00)||9.000|8.500|")


def test_numbers_of_16_bits_have_a_limit_of_their_own():
    half = ours(3000) | {"compute_type": "bfloat16", "matmul_flops_per_second": 60_000.0}
    lines = bench.summary({"a": [ours(1000)], "b": [half]}).splitlines()
    assert [line.split("|")[8] for line in lines[2:4]] == ["0.50", "0.50"]


def test_nothing_is_compared_that_trained_on_other_words():
    bench.same_work({"a": [ours(1.0)], "b": [record(2.0)]})
    with pytest.raises(SystemExit, match="words differ"):
        bench.same_work({"a": [ours(1.0)], "b": [record(2.0, words=99)]})


@pytest.mark.parametrize(
    ("losses", "kind", "same"),
    [
        ([9.008, 8.6], "float32", True),
        ([9.02, 8.5], "float32", False),
        ([9.0, 8.7], "float32", False),
        ([9.0, 8.7], "bfloat16", True),
        ([9.0, 8.95], "bfloat16", False),
    ],
)
def test_nothing_is_compared_that_is_another_model(losses, kind, same):
    other = record(2.0) | {"losses": losses, "compute_type": kind}
    found = {"a": [ours(1.0)], "b": [other]}
    if same:
        bench.same_model(found)
    else:
        with pytest.raises(SystemExit, match="not the same models"):
            bench.same_model(found)


def test_a_second_table_is_of_synthetic_ids_unless_the_dataset_is_named(tmp_path):
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("a b\n")
    text = [f"--src_file_name={tmp_path}/a.en", f"--tgt_file_name={tmp_path}/a.de"]

    def tables(*flags):
        _, given, config = parse(*bench.DEFAULTS, *flags)
        return bench.tables_of(given, config.data)

    assert list(tables(*text)) == ["files", "synthetic"]
    parse(*tables(*text)["synthetic"])  # train.py takes them
    assert list(tables("--dataset=demo")) == ["demo"]
    assert list(tables("--dataset=synthetic")) == ["synthetic"]


def test_replicas_of_the_comparison_share_one_replicas_batch():
    _, _, config = parse(*bench.DEFAULTS, "--batch_size=64")
    for name, (_, _, count, _) in bench.OURS.items():
        assert f"--batch_size={64 // count}" in bench.our_flags(name, config)


def test_peers_count_the_words_that_train_counts(tmp_path, monkeypatch, capsys):
    path = tmp_path / "work.npz"
    flags = ["--dataset=demo", "--batch_size=8", "--num_warmup_batches=1", "--num_batches=2"]
    workload.main([str(path), *flags])
    monkeypatch.setattr(sys, "argv", ["peer", str(path), "--num_warmup_batches=1"])
    given = work.parse()
    work.run(given, lambda number: float(number))
    said = json.loads(capsys.readouterr().out)
    trained = rounds.train([*flags, "--num_units=8", "--embedding_dim=8"])
    places = sum(batch.source.size + batch.target.size for batch in given.batches[1:])
    assert said["timed_words"] == trained["timed_words"] < places
    assert said["losses"] == [0.0, 1.0, 2.0]


def phased(optimizer_seconds, count):
    times = {"transfer": 0.0, "read": 0.1, "wait": 0.2, "forward": 1.0, "backward": 2.0}
    times["others"] = 0.25 * (count - 1)
    times["exchange"] = 0.3 + 0.1 * count
    seconds = {name: [time] * count for name, time in times.items()}
    seconds["update"] = [optimizer_seconds] * count
    return record(
        1.0,
        timed_seconds=2 * (3.5 + optimizer_seconds),
        timed_batches=2,
        batch_size_per_replica=16,
        phase_seconds={
            "replicas": seconds,
            "step": 3.5 + optimizer_seconds,
            "input_wait": 0.05,
        },
    )


def test_the_optimizers_table_names_the_phase_that_grew():
    found = {"sgd 1": [phased(0.1, 1)], "adamw 1": [phased(0.4, 1)], "adamw 4": [phased(1.4, 4)]}
    rows = optimizers.summary(found).splitlines()[2:]
    assert rows[0] == (
        "|sgd|1|16|3.600|0.050|0.000|0.100|0.200|1.000|2.000|0.000|0.400|0.100|3.600|||"
    )
    assert rows[1].endswith("||step +0.300: update +0.300, transfer +0.000|")
    assert rows[2].endswith("|step +1.000: update +1.000, others +0.750||")


def test_the_optimizers_phases_are_of_the_rounds_in_the_middle():
    records = [phased(seconds, 1) for seconds in (9.0, 0.2, 0.3, 0.4, 0.0)]
    assert optimizers.phase(records, "update") == pytest.approx(0.3)
    assert optimizers.step_seconds(records) == pytest.approx(3.8)


def test_a_curve_is_shown_against_its_smallest_point():
    sizes = {"seconds_to_first_step": 2.0, "peak_memory_bytes": 2**30, "step_seconds": [1, 3, 2]}
    larger = sizes | {"seconds_to_first_step": 3.0, "peak_memory_bytes": 2**31}
    found = {
        "layers 2": [ours(1000) | sizes, ours(1200) | sizes],
        "layers 4": [ours(550) | larger],
        "units 128": [ours(900) | sizes | {"matmul_flops_per_second": 40_000.0}],
    }
    rows = costs.summary("layers", found).splitlines()[2:]
    assert rows == [
        "|2|1,100 (1,000 to 1,200)|1.00|0.28|2.000|2.0|1.00|1,024|1.00|",
        "|4|550 (550 to 550)|0.50|0.14|2.000|3.0|1.50|2,048|2.00|",
    ]


def test_a_curve_whose_smallest_point_failed_is_compared_with_nothing():
    sizes = {"seconds_to_first_step": 2.0, "peak_memory_bytes": 2**30, "step_seconds": [2]}
    rows = costs.summary("layers", {"layers 4": [ours(550) | sizes]}).splitlines()[2:]
    assert rows == ["|4|550 (550 to 550)||0.28|2.000|2.0||1,024||"]


def test_a_curve_that_is_named_is_the_only_one(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(costs, "measure", lambda cells, _: asked.extend(cells))
    with pytest.raises(SystemExit, match="nothing was measured"):
        costs.main(["--curve=layers"])
    assert asked == ["layers 2", "layers 4", "layers 8"]
    with pytest.raises(SystemExit) as exit_info:
        costs.main(["--curve=layer"])
    assert exit_info.value.code == 2
    assert "layers" in capsys.readouterr().err


def test_every_point_of_every_curve_is_a_command_line_train_takes():
    for curve in costs.CURVES.values():
        for value in curve.values:
            parse(*costs.DEFAULTS, *curve.flags(value))


def test_text_that_cannot_be_used_ends_the_comparison_in_one_line(tmp_path, capsys):
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    for path, lines in zip(sides, (3, 2)):
        path.write_text("x\n" * lines)
    files = [f"--{name}_file_name={path}" for name, path in zip(("src", "tgt"), sides)]
    with pytest.raises(SystemExit) as exit_info:
        bench.main(files)
    assert exit_info.value.code == 2
    said = capsys.readouterr().err
    assert "a.en has 3 lines" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("module", [optimizers, costs])
def test_what_one_cell_would_refuse_is_said_before_the_first(module, monkeypatch, capsys):
    monkeypatch.setattr(module, "measure", None)
    with pytest.raises(SystemExit) as exit_info:
        module.main(["--all_reduce_spec=xring"])
    assert exit_info.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
