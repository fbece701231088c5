import re

import pytest

from nmt import checks, flags, paths
from nmt.machine import devices


def problems(*argv):
    config, found = flags.parse(argv)
    assert found == []
    return checks.find_problems(config)


@pytest.mark.parametrize(
    ("argv", "pattern"),
    [
        (["--direction=bi", "--num_encoder_layers=3"], r"=3 is odd.*give 4 or use --direction=uni"),
        (["--tied_embeddings", "--embedding_dim=8"], r"=8 to be --num_units=512; give one number"),
        (
            ["--num_epochs=2", "--num_batches=50"],
            "both say how long to train; leave one of them out",
        ),
        (["--weight_decay=0.5"], "--weight_decay=0.5 does nothing with --optimizer=adam; leave it"),
        (["--decay_steps=5"], "nothing with --learning_rate_decay=none; .*=inverse_sqrt or expon"),
        (
            ["--decay_rate=0.9", "--learning_rate_decay=inverse_sqrt"],
            "--decay_rate=0.9 does nothing with --learning_rate_decay=inverse_sqrt; leave",
        ),
        (["--ema_decay=0.9"], "--ema_decay=0.9 averages weights that nobody looks at; give --outp"),
        (["--independent_replica", "--variable_update=parameter_server"], "leave one of them out"),
        (
            ["--use_synthetic_data", "--prefetch_data_to_device=false"],
            "--prefetch_data_to_device=False does nothing with --dataset=synthetic; leave it out",
        ),
        (["--use_synthetic_data", "--dataset=demo"], "name two datasets; leave one"),
        (["--dataset=synthetic", "--num_epochs=2"], "--num_epochs=2 has no meaning.*--num_batches"),
        (["--use_synthetic_data", "--evaluate"], "needs a test split.*--dataset=demo"),
        (["--all_reduce_spec=nccl#2"], "=nccl#2 has 'nccl#2'; NCCL cuts as it sees fit, leave"),
        (
            ["--all_reduce_spec=xring", "--num_replicas=1"],
            "xring does nothing with --num_r",
        ),
        (
            ["--gradient_repacking=4", "--variable_update=parameter_server"],
            "--gradient_repacking=4 does nothing with --variable_update=parameter_server; leave it",
        ),
        (
            ["--all_reduce_spec=xring", "--independent_replica"],
            "--all_reduce_spec=xring does nothing with --variable_update=independent; leave it out",
        ),
        (
            ["--gradient_repacking=4", "--agg_small_grads_max_bytes=9"],
            "packs all gradients, small ones too; leave it or --agg_small_grads_max_bytes out",
        ),
        (
            ["--local_parameter_device=cpu"],
            "--local_parameter_device=cpu does nothing with --variable_update=replicated; leave",
        ),
        (
            ["--param_server_device=disk", "--variable_update=parameter_server"],
            "--param_server_device=disk is not a device; give cpu:0 or, with GPUs, gpu:0",
        ),
        (
            ["--param_server_device=gpu:1", "--variable_update=parameter_server"],
            "=gpu:1 does nothing with --local_parameter_device=gpu; leave it out or use",
        ),
        (
            ["--sparse_gradients=sparse", "--variable_update=independent"],
            "=sparse does nothing where no gradients are exchanged; leave it out",
        ),
        (["--sparse_gradients=dense", "--num_replicas=1"], "=dense does nothing with --num_repl"),
        (
            ["--variable_consistency=relaxed", "--num_replicas=1"],
            "does nothing with --num_repl",
        ),
        (
            ["--all_reduce_spec=hierarchical_copy", "--num_replicas=2"],
            "hierarchical_copy needs 3 replicas or more; give more",
        ),
        (
            ["--agg_small_grads_max_group=20"],
            "does nothing without --agg_small_grads_max_b",
        ),
        (
            ["--agg_small_grads_max_bytes=64", "--agg_small_grads_max_group=1"],
            "leaves every gradient by itself; give at least 2",
        ),
        (["--param_server_device=gpu:1"], "does nothing with --variable_update=replicated"),
        (
            ["--sparse_gradients=sparse", "--variable_consistency=relaxed"],
            "=sparse does not go with --variable_consistency=relaxed; leave one of them out",
        ),
        (
            ["--residual", "--direction=bi", "--num_encoder_layers=2", "--num_decoder_layers=1"],
            "--residual does nothing where no layer is above another; leave it out",
        ),
        (["--results_file=nowhere/results.json"], "does not exist; make it first"),
        (["--results_file=tests"], "is a directory; name a file in it"),
        (["--trace_file=nowhere/trace.json"], "--trace_file=nowhere/trace.json is in a directory"),
        (["--output_dir=train.py/run"], "train.py is a file; name another"),
    ],
)
def test_a_conflict_gets_one_sentence_with_the_way_out(argv, pattern):
    (found,) = problems(*argv)
    assert re.search(pattern, found)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--direction=bi"],
        ["--independent_replica", "--variable_update=replicated"],
        ["--use_synthetic_data", "--dataset=synthetic"],
        ["--num_encoder_layers=3", "--num_decoder_layers=2"],
        ["--output_dir=not/there/yet"],
        ["--all_reduce_spec=pscpu:32k:xring", "--num_replicas=2"],
        ["--sparse_gradients=sparse", "--num_replicas=2"],
        ["--sparse_gradients=dense", "--variable_consistency=relaxed"],
    ],
)
def test_what_can_run_is_not_refused(argv):
    assert problems(*argv) == []


def test_all_conflicts_are_reported_at_once():
    found = problems(
        "--direction=bi",
        "--num_encoder_layers=3",
        "--results_file=a/b",
        "--evaluate",
        "--use_synthetic_data",
    )
    assert len(found) == 3


def test_everything_that_one_replica_cannot_use_is_named():
    found = problems("--num_replicas=1", "--gradient_repacking=2", "--compact_gradient_transfer")
    assert [sentence.split()[0] for sentence in found] == [
        "--gradient_repacking=2",
        "--compact_gradient_transfer=True",
    ]


def test_a_directory_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(paths.os, "access", lambda path, mode: path != tmp_path)
    (found,) = problems(f"--output_dir={tmp_path / 'run'}")
    assert found == f"--output_dir={tmp_path / 'run'} cannot be written to; name another directory"


def test_a_path_that_cannot_be_looked_at_is_a_problem():
    (found,) = problems("--output_dir=" + 300 * "x")
    assert "cannot be used" in found


def test_more_replicas_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(devices, "num_gpus", lambda: 2)
    config = flags.parse(["--num_replicas=3"])[0]
    (found,) = checks.find_device_problems(config)
    assert "--num_replicas=3 is more than the 2 GPU(s)" in found
    assert "give 2 or fewer" in found


def test_a_spec_must_suit_the_gpus_there_are(monkeypatch):
    monkeypatch.setattr(devices, "num_gpus", lambda: 2)
    config = flags.parse(["--all_reduce_spec=hierarchical_copy"])[0]
    (found,) = checks.find_device_problems(config)
    assert "hierarchical_copy needs 3 replicas or more" in found


def test_a_server_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(devices, "num_gpus", lambda: 1)
    argv = ["--variable_update=parameter_server", "--local_parameter_device=cpu"]
    config = flags.parse([*argv, "--param_server_device=gpu:1"])[0]
    assert checks.needs_devices(config)
    (found,) = checks.find_device_problems(config)
    assert "--param_server_device=gpu:1 is not among the 1 GPU(s)" in found
    config = flags.parse([*argv, "--param_server_device=gpu:0"])[0]
    assert checks.find_device_problems(config) == []


def test_every_flag_of_another_strategy_is_reported():
    argv = ["--gradient_repacking=4", "--all_reduce_spec=nccl", "--compact_gradient_transfer"]
    assert len(problems(*argv, "--variable_update=parameter_server")) == 3


def test_any_number_of_cpu_replicas_is_fine(monkeypatch):
    monkeypatch.setattr(devices, "num_gpus", lambda: 0)
    assert checks.find_device_problems(flags.parse(["--num_replicas=8"])[0]) == []


def test_mixed_precision_is_refused_where_the_device_lacks_it(monkeypatch):
    monkeypatch.setattr(devices, "has_bfloat16", lambda: False)
    config = flags.parse(["--mixed_precision"])[0]
    assert checks.needs_devices(config)
    (found,) = checks.find_device_problems(config)
    assert "leave it out" in found


@pytest.mark.parametrize(("capability", "able"), [((7, 5), False), ((8, 0), True), ((9, 0), True)])
def test_bfloat16_needs_compute_capability_8(monkeypatch, capability, able):
    config = devices.tf.config
    monkeypatch.setattr(config, "list_physical_devices", lambda kind: ["gpu"])
    details = {"compute_capability": capability}
    monkeypatch.setattr(config.experimental, "get_device_details", lambda gpu: details)
    assert devices.has_bfloat16() is able


@pytest.mark.parametrize(
    ("split", "flags_given", "pattern"),
    [
        ("dev", [], "--dev_src_file_name=.* does nothing without --eval_every or --evaluate; give"),
        ("test", ["--eval_every=5"], "--test_src_file_name=.* does nothing without --evaluate; gi"),
        ("dev", ["--evaluate"], None),
        ("test", ["--evaluate"], None),
    ],
)
def test_files_that_nobody_would_read_are_refused(tmp_path, split, flags_given, pattern):
    names = ["src_file_name", "tgt_file_name", f"{split}_src_file_name", f"{split}_tgt_file_name"]
    if flags_given == ["--eval_every=5"]:
        names += ["dev_src_file_name", "dev_tgt_file_name"]
    for name in names:
        (tmp_path / name).write_text("x\n")
    found = problems(*(f"--{name}={tmp_path / name}" for name in names), *flags_given)
    assert len(found) == (pattern is not None)
    assert pattern is None or re.search(pattern, found[0])


def test_a_dev_set_is_not_what_evaluate_translates_where_there_is_a_test_set(tmp_path):
    sides = [
        f"{split}{side}_file_name" for split in ("", "dev_", "test_") for side in ("src", "tgt")
    ]
    for name in sides:
        (tmp_path / name).write_text("x\n")
    (found,) = problems("--evaluate", *(f"--{name}={tmp_path / name}" for name in sides))
    assert found.endswith("does nothing without --eval_every; give that or leave it out")


def test_lengths_have_a_limit():
    for name in ("src_max_len", "tgt_max_len"):
        said = f"--{name}=3000000000 cannot be used; give at most 100,000"
        assert flags.parse([f"--{name}=3000000000"])[1] == [said]


def test_a_profile_needs_a_place_before_training_begins(tmp_path):
    (tmp_path / "profile").write_text("in the way")
    (found,) = problems("--enable_profile", f"--output_dir={tmp_path}")
    assert found == (
        f"--enable_profile writes to {tmp_path}/profile, which cannot be made: {tmp_path}/profile "
        "is a file; name another --output_dir"
    )
