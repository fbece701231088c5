"""Reasons why a configuration cannot run, found before data is read or a model is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from input_pipeline import checks as data_checks
from input_pipeline.choice import dataset_of
from nmt import flags, paths
from nmt.config import PROFILE, OptimizerConfig, RunConfig, TrainConfig
from nmt.errors import UserError
from variable_update import checks as variable_checks


def even_layers(config: TrainConfig) -> str | None:
    """Half of the encoder's layers run each way."""
    model = config.model
    if model.direction == "bi" and model.num_encoder_layers % 2:
        return (
            f"--num_encoder_layers={model.num_encoder_layers} is odd and --direction=bi runs half "
            f"of them each way; give {model.num_encoder_layers + 1} or use --direction=uni"
        )
    return None


def tied_sizes(config: TrainConfig) -> str | None:
    """A table that is read from and predicted with has one size."""
    model = config.model
    if model.tied_embeddings and model.embedding_dim != model.num_units:
        return (
            f"--tied_embeddings needs --embedding_dim={model.embedding_dim} to be "
            f"--num_units={model.num_units}; give one number for both"
        )
    return None


def residual_has_layers(config: TrainConfig) -> str | None:
    """Every layer but the first of a stack adds its input."""
    model = config.model
    directions = 2 if model.direction == "bi" else 1
    if model.residual and model.num_encoder_layers <= directions and model.num_decoder_layers == 1:
        return "--residual does nothing where no layer is above another; leave it out"
    return None


def synthetic_has_no_epochs(config: TrainConfig) -> str | None:
    """Synthetic data never ends."""
    if dataset_of(config.data) == "synthetic" and config.run.num_epochs:
        return (
            f"--num_epochs={config.run.num_epochs} has no meaning for synthetic data, which never "
            "ends; use --num_batches"
        )
    return None


def evaluation_has_text(config: TrainConfig) -> list[str]:
    """There is something to translate."""
    data, dataset, run = config.data, dataset_of(config.data), config.run
    named = {
        "dev": (f"--eval_every={run.eval_every}", run.eval_every, data.dev_src_file_name),
        "test": ("--evaluate", run.evaluate, data.test_src_file_name or data.dev_src_file_name),
    }
    problems = []
    for split, (flag, wanted, file) in named.items():
        if wanted and dataset == "synthetic":
            problems.append(
                f"{flag} needs a {split} split, which synthetic data does not have; use "
                "--dataset=demo"
            )
        if wanted and dataset == "files" and not file:
            files = f"--{split}_src_file_name and --{split}_tgt_file_name"
            problems.append(f"{flag} needs {files}; name them")
    return problems


def split_files_are_used(config: TrainConfig) -> list[str]:
    """Files that nobody would translate are refused."""
    data, run = config.data, config.run
    dev = "--eval_every" + ("" if data.test_src_file_name else " or --evaluate")
    uses = {
        "dev": (run.eval_every or (run.evaluate and not data.test_src_file_name), dev),
        "test": (run.evaluate, "--evaluate"),
    }
    return [
        f"--{split}_src_file_name={file} does nothing without {flags}; give that or leave it out"
        for split, (used, flags) in uses.items()
        if (file := getattr(data, f"{split}_src_file_name")) and not used
    ]


def patience_looks(config: TrainConfig) -> str | None:
    """Who waits must look."""
    run = config.run
    if run.patience and not run.eval_every:
        return f"--patience={run.patience} counts evaluations on the dev set; give --eval_every too"
    return None


def one_length_of_a_run(config: TrainConfig) -> str | None:
    """So many epochs or so many batches."""
    run = config.run
    if run.num_epochs and run.num_batches != RunConfig().num_batches:
        return (
            f"--num_epochs={run.num_epochs} and --num_batches={run.num_batches} both say how long "
            "to train; leave one of them out"
        )
    return None


def optimizer_flags_do_something(config: TrainConfig) -> list[str]:
    """Flags of other optimizers and schedules are refused."""
    given, usual = config.optimizer, OptimizerConfig()
    needed = {
        "weight_decay": ("optimizer", ("adamw",)),
        "decay_steps": ("learning_rate_decay", ("inverse_sqrt", "exponential")),
        "decay_rate": ("learning_rate_decay", ("exponential",)),
    }
    return [
        f"--{name}={getattr(given, name)} does nothing with --{other}={getattr(given, other)}; "
        f"leave it out or use --{other}={' or '.join(values)}"
        for name, (other, values) in needed.items()
        if getattr(given, name) != getattr(usual, name) and getattr(given, other) not in values
    ]


def averages_are_used(config: TrainConfig) -> str | None:
    """Somebody looks at the moving average, or keeps it."""
    run, decay = config.run, config.optimizer.ema_decay
    if decay and not (run.evaluate or run.eval_every or run.output_dir):
        return (
            f"--ema_decay={decay} averages weights that nobody looks at; give --output_dir, "
            "--eval_every or --evaluate"
        )
    return None


def saving_has_a_place(config: TrainConfig) -> list[str]:
    """Flags about checkpoints that would do nothing are refused."""
    names = ("save_every_steps", "save_every_minutes", "num_keep_ckpts")
    run, usual = config.run, RunConfig()
    return [
        f"--{name}={getattr(run, name)} does nothing without --output_dir; name a directory"
        for name in names
        if not run.output_dir and getattr(run, name) != getattr(usual, name)
    ]


def writable_directories(config: TrainConfig) -> str | None:
    """Checkpoints can be written, or else the profile."""
    run = config.run
    if why := paths.unwritable(run.output_dir):
        return f"--output_dir={run.output_dir} {why}; name another directory"
    profile = str(Path(run.output_dir) / PROFILE) if run.enable_profile else ""
    if why := paths.unwritable(profile):
        return f"--enable_profile writes to {profile}, which {why}; name another --output_dir"
    return None


def writable_files(config: TrainConfig) -> list[str]:
    """The line of JSON can be added, the trace written."""
    names = ("results_file", "trace_file")
    said = (paths.writable_file(name, getattr(config.run, name)) for name in names)
    return [problem for problem in said if problem]


Rule = Callable[[TrainConfig], "str | list[str] | None"]

RULES: Final[tuple[Rule, ...]] = (
    even_layers,
    tied_sizes,
    residual_has_layers,
    synthetic_has_no_epochs,
    evaluation_has_text,
    split_files_are_used,
    patience_looks,
    one_length_of_a_run,
    optimizer_flags_do_something,
    averages_are_used,
    saving_has_a_place,
    writable_directories,
    writable_files,
)


def read(argv: Sequence[str]) -> tuple[TrainConfig, list[str]]:
    """Reads train.py's flags; gives the configuration and all that is wrong."""
    config, problems = flags.parse(argv)
    return config, problems + find_problems(config)


def find_problems(config: TrainConfig) -> list[str]:
    """All reasons this configuration cannot run on any machine; empty when it can."""
    of_data = [answers(rule, config.data) for rule in data_checks.RULES]
    of_variables = [answers(rule, config.parallel) for rule in variable_checks.RULES]
    others = [answers(rule, config) for rule in RULES]
    # Several rules may stumble over one path.
    every = (sentence for said in (*of_data, *of_variables, *others) for sentence in said)
    return list(dict.fromkeys(every))


def answers(rule: Callable[[Any], Any], config: Any) -> list[str]:
    """What a rule says; a path that cannot even be looked at is a problem too."""
    try:
        said = rule(config)
        return [said] if isinstance(said, str) else list(said or ())
    except UserError as error:
        return [str(error)]
    except OSError as error:
        return [f"{error.filename} cannot be used: {error.strerror}; name another path"]


def needs_devices(config: TrainConfig) -> bool:
    """Whether the configuration asks for something this machine may not have."""
    parallel = config.parallel
    on_gpu = parallel.param_server_device.lower().startswith("gpu")
    return parallel.num_replicas > 1 or config.model.mixed_precision or on_gpu


def find_device_problems(config: TrainConfig) -> list[str]:
    """All reasons it cannot run on this machine; imports TensorFlow to look at the devices."""
    from nmt import device_checks

    return device_checks.find_problems(config)
