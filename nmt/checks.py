"""Reasons why a configuration cannot run, found before data is read or a model is built."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from input_pipeline import checks as data_checks
from input_pipeline.choice import dataset_of
from nmt.config import WITH_INDEPENDENT_REPLICA, ParallelConfig, TrainConfig
from variable_update import spec as specs

DEFAULTS: Final = ParallelConfig()
STRATEGY_FLAGS: Final = {
    "local_parameter_device": "parameter_server",
    "param_server_device": "parameter_server",
    "all_reduce_spec": "replicated",
    "gradient_repacking": "replicated",
    "agg_small_grads_max_bytes": "replicated",
    "agg_small_grads_max_group": "replicated",
    "compact_gradient_transfer": "replicated",
    "variable_consistency": "replicated",
}


def even_layers(config: TrainConfig) -> str | None:
    """Half of the encoder's layers run each way."""
    model = config.model
    if model.direction == "bi" and model.num_encoder_layers % 2:
        return (
            f"--num_encoder_layers={model.num_encoder_layers} is odd and --direction=bi runs half "
            f"of them each way; give {model.num_encoder_layers + 1} or use --direction=uni"
        )
    return None


def one_strategy(config: TrainConfig) -> str | None:
    """--independent_replica is a form of `replicated`."""
    parallel = config.parallel
    if parallel.independent_replica and parallel.variable_update not in WITH_INDEPENDENT_REPLICA:
        return (
            "--independent_replica=true shares nothing, "
            f"--variable_update={parallel.variable_update} shares variables; leave one of them out"
        )
    return None


def strategy_flags_are_used(config: TrainConfig) -> list[str]:
    """A flag of one strategy does nothing with another."""
    parallel = config.parallel
    return [
        f"--{name}={getattr(parallel, name)} does nothing with --variable_update="
        f"{parallel.strategy}; leave it out or use --variable_update={strategy}"
        for name, strategy in STRATEGY_FLAGS.items()
        if getattr(parallel, name) != getattr(DEFAULTS, name) and parallel.strategy != strategy
    ]


def server_is_a_device(config: TrainConfig) -> str | None:
    """--param_server_device names one, and is what is used."""
    parallel = config.parallel
    name = parallel.param_server_device
    if not re.fullmatch(r"cpu:0|gpu:\d+", name.lower()):
        return f"--param_server_device={name} is not a device; give cpu:0 or, with GPUs, gpu:0"
    if name != DEFAULTS.param_server_device and parallel.local_parameter_device != "cpu":
        return (
            f"--param_server_device={name} does nothing with --local_parameter_device=gpu; leave "
            "it out or use --local_parameter_device=cpu"
        )
    return None


def spec_can_be_read(config: TrainConfig) -> str | None:
    """--all_reduce_spec names ways that are known."""
    text = config.parallel.all_reduce_spec
    try:
        spec = specs.parse(text) if text else ()
    except specs.BadSpec as problem:
        return f"--all_reduce_spec={text} {problem}"
    fewest = {name: specs.FEWEST_DEVICES.get(name, 1) for name in specs.algorithms(spec)}
    for name, count in fewest.items():
        if 0 < config.parallel.num_replicas < count:
            return (
                f"--all_reduce_spec={text}: {name} needs {count} replicas or more; give more with "
                "--num_replicas or leave it out"
            )
    return None


def rows_can_travel(config: TrainConfig) -> str | None:
    """--sparse_gradients=sparse needs gradients that travel, at once."""
    parallel = config.parallel
    if parallel.sparse_gradients == "auto":
        return None
    flag = f"--sparse_gradients={parallel.sparse_gradients}"
    if parallel.strategy == "independent" or parallel.num_replicas == 1:
        return f"{flag} does nothing where no gradients are exchanged; leave it out"
    if parallel.sparse_gradients == "sparse" and parallel.variable_consistency == "relaxed":
        return f"{flag} does not go with --variable_consistency=relaxed; leave one of them out"
    return None


def one_way_to_pack(config: TrainConfig) -> str | None:
    """--gradient_repacking packs small gradients too."""
    parallel = config.parallel
    if parallel.gradient_repacking and parallel.agg_small_grads_max_bytes:
        return (
            f"--gradient_repacking={parallel.gradient_repacking} packs all gradients, small ones "
            "too; leave it or --agg_small_grads_max_bytes out"
        )
    return None


def synthetic_has_no_epochs(config: TrainConfig) -> str | None:
    """Synthetic data never ends."""
    if dataset_of(config.data) == "synthetic" and config.run.num_epochs:
        return (
            f"--num_epochs={config.run.num_epochs} has no meaning for synthetic data, which never "
            "ends; use --num_batches"
        )
    return None


def evaluation_has_text(config: TrainConfig) -> str | None:
    """There is something to translate."""
    data, dataset = config.data, dataset_of(config.data)
    if not config.run.evaluate:
        return None
    if dataset == "synthetic":
        return "--evaluate needs a test split, which synthetic data has not; use --dataset=demo"
    if dataset == "files" and not (data.test_src_file_name or data.dev_src_file_name):
        return "--evaluate needs --test_src_file_name and --test_tgt_file_name; name them"
    return None


def writable_output_dir(config: TrainConfig) -> str | None:
    """Checkpoints can be written."""
    if not config.run.output_dir:
        return None
    wanted = Path(config.run.output_dir)
    nearest = next(path for path in (wanted, *wanted.resolve().parents) if path.exists())
    if not nearest.is_dir():
        return f"--output_dir={wanted} cannot be made: {nearest} is a file; name another directory"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"--output_dir={wanted} cannot be written to; name another directory"
    return None


def writable_results_file(config: TrainConfig) -> str | None:
    """The line of JSON can be added."""
    if not config.run.results_file:
        return None
    wanted = Path(config.run.results_file)
    if wanted.is_dir():
        return f"--results_file={wanted} is a directory; name a file in it"
    if not wanted.parent.is_dir():
        return f"--results_file={wanted} is in a directory that does not exist; make it first"
    if not os.access(wanted if wanted.exists() else wanted.parent, os.W_OK):
        return f"--results_file={wanted} cannot be written to; name another file"
    return None


Rule = Callable[[TrainConfig], "str | list[str] | None"]

RULES: Final[tuple[Rule, ...]] = (
    even_layers,
    one_strategy,
    strategy_flags_are_used,
    server_is_a_device,
    spec_can_be_read,
    rows_can_travel,
    one_way_to_pack,
    synthetic_has_no_epochs,
    evaluation_has_text,
    writable_output_dir,
    writable_results_file,
)


def find_problems(config: TrainConfig) -> list[str]:
    """All reasons this configuration cannot run on any machine; empty when it can."""
    of_data = [answers(rule, config.data) for rule in data_checks.RULES]
    others = [answers(rule, config) for rule in RULES]
    return [sentence for said in (*of_data, *others) for sentence in said]


def answers(rule: Callable[[Any], Any], config: Any) -> list[str]:
    """What a rule says; a path that cannot even be looked at is a problem too."""
    try:
        said = rule(config)
        return [said] if isinstance(said, str) else list(said or ())
    except OSError as error:
        return [f"{error.filename} cannot be used: {error.strerror}; name another path"]


def needs_devices(config: TrainConfig) -> bool:
    """Whether the configuration asks for something this machine may not have."""
    parallel = config.parallel
    on_gpu = parallel.param_server_device.lower().startswith("gpu")
    return parallel.num_replicas > 1 or config.model.mixed_precision or on_gpu


def find_device_problems(config: TrainConfig) -> list[str]:
    """All reasons it cannot run on this machine; imports TensorFlow to look at the devices."""
    from nmt import devices

    return devices.find_problems(config)
