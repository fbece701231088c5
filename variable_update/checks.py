"""Reasons why flags of devices and variables do not go together; TensorFlow is not imported."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from nmt.config import WITH_INDEPENDENT_REPLICA, ParallelConfig
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

EXCHANGE_FLAGS: Final = (
    "all_reduce_spec",
    "gradient_repacking",
    "agg_small_grads_max_bytes",
    "agg_small_grads_max_group",
    "compact_gradient_transfer",
    "sparse_gradients",
    "variable_consistency",
)


def one_strategy(config: ParallelConfig) -> str | None:
    """--independent_replica is a form of `replicated`."""
    if config.independent_replica and config.variable_update not in WITH_INDEPENDENT_REPLICA:
        return (
            "--independent_replica=true shares nothing, "
            f"--variable_update={config.variable_update} shares variables; leave one of them out"
        )
    return None


def strategy_flags_are_used(config: ParallelConfig) -> list[str]:
    """A flag of one strategy does nothing with another."""
    return [
        f"--{name}={getattr(config, name)} does nothing with --variable_update="
        f"{config.strategy}; leave it out or use --variable_update={strategy}"
        for name, strategy in STRATEGY_FLAGS.items()
        if getattr(config, name) != getattr(DEFAULTS, name) and config.strategy != strategy
    ]


def server_is_a_device(config: ParallelConfig) -> str | None:
    """--param_server_device names one, and is what is used."""
    name = config.param_server_device
    if not re.fullmatch(r"cpu:0|gpu:\d+", name.lower()):
        return f"--param_server_device={name} is not a device; give cpu:0 or, with GPUs, gpu:0"
    elsewhere = name != DEFAULTS.param_server_device and config.strategy == "parameter_server"
    if elsewhere and config.local_parameter_device != "cpu":
        return (
            f"--param_server_device={name} does nothing with --local_parameter_device=gpu; leave "
            "it out or use --local_parameter_device=cpu"
        )
    return None


def spec_can_be_read(config: ParallelConfig) -> str | None:
    """--all_reduce_spec names ways that are known."""
    text = config.all_reduce_spec
    try:
        spec = specs.parse(text) if text else ()
    except specs.BadSpec as problem:
        return f"--all_reduce_spec={text} {problem}"
    fewest = {name: specs.FEWEST_DEVICES.get(name, 1) for name in specs.algorithms(spec)}
    for name, count in fewest.items():
        if 1 < config.num_replicas < count:
            return (
                f"--all_reduce_spec={text}: {name} needs {count} replicas or more; give more with "
                "--num_replicas or leave it out"
            )
    return None


def exchange_flags(config: ParallelConfig) -> list[str]:
    """What is said about the exchange, as it would be written; nothing of it suits one replica."""
    said = ((name, getattr(config, name)) for name in EXCHANGE_FLAGS)
    return [f"--{name}={value}" for name, value in said if value != getattr(DEFAULTS, name)]


def more_than_one_replica(config: ParallelConfig) -> list[str]:
    """One replica has nothing to exchange."""
    given = exchange_flags(config) if config.num_replicas == 1 else []
    return [
        f"{flag} does nothing with --num_replicas=1; leave it out or give more replicas"
        for flag in given
    ]


def rows_can_travel(config: ParallelConfig) -> str | None:
    """--sparse_gradients=sparse needs gradients that travel, at once."""
    if config.sparse_gradients == "auto":
        return None
    flag = f"--sparse_gradients={config.sparse_gradients}"
    if config.strategy == "independent":
        return f"{flag} does nothing where no gradients are exchanged; leave it out"
    if config.sparse_gradients == "sparse" and config.variable_consistency == "relaxed":
        return f"{flag} does not go with --variable_consistency=relaxed; leave one of them out"
    return None


def one_way_to_pack(config: ParallelConfig) -> str | None:
    """--gradient_repacking packs small gradients too."""
    if config.gradient_repacking and config.agg_small_grads_max_bytes:
        return (
            f"--gradient_repacking={config.gradient_repacking} packs all gradients, small ones "
            "too; leave it or --agg_small_grads_max_bytes out"
        )
    group = config.agg_small_grads_max_group
    if group == 1 and config.agg_small_grads_max_bytes:
        return (
            "--agg_small_grads_max_group=1 leaves every gradient by itself; give at least 2 or "
            "leave --agg_small_grads_max_bytes out"
        )
    if group != DEFAULTS.agg_small_grads_max_group and not config.agg_small_grads_max_bytes:
        return (
            f"--agg_small_grads_max_group={group} does nothing without "
            "--agg_small_grads_max_bytes, which says what is small; give it too"
        )
    return None


RULES: Final[tuple[Callable[[ParallelConfig], str | list[str] | None], ...]] = (
    one_strategy,
    strategy_flags_are_used,
    server_is_a_device,
    spec_can_be_read,
    more_than_one_replica,
    rows_can_travel,
    one_way_to_pack,
)
