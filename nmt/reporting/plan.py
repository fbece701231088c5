"""The plan of a run: what is about to happen, before it does."""

from __future__ import annotations

from nmt.config import NO_ATTENTION, ModelConfig, TrainConfig
from nmt.machine import devices, environment
from nmt.setup import Setup
from nmt.storage import model_dir
from variable_update.checks import exchange_flags


def plan(setup: Setup) -> str:
    """What is about to happen, before it does."""
    config, trainer = setup.config, setup.trainer
    names, model = trainer.strategy.devices, config.model
    lines = {
        **setup.data.description,
        "model": f"{trainer.model.num_parameters:,} parameters; {describe(model)}; "
        f"{config.optimizer.optimizer}",
        "replicas": f"{len(names)} on {', '.join(names)}; {global_batch(config)}",
        "variables": trainer.strategy.describe(),
        "batches": describe_batches(setup),
        "kept": describe_keeping(config),
        "runtime": environment.describe(),
    }
    unused = exchange_flags(config.parallel) if len(names) == 1 else []
    if unused:
        lines["unused"] = f"{', '.join(unused)}: one replica has nothing to exchange"
    if setup.resumed:
        lines["resumed"] = f"{setup.resumed}, step {int(trainer.step)}"
        if changed := model_dir.changes(config, setup.resumed):
            lines["changed"] = ", ".join(changed)
    if gpus := devices.unused_gpus():
        lines["GPUs"] = f"{gpus} are here that TensorFlow cannot use; see: make venv CUDA=1"
    return "\n".join(f"{name:<11}{text}" for name, text in lines.items())


def describe_batches(setup: Setup) -> str:
    """How many there are to train on."""
    schedule, run = setup.schedule, setup.config.run
    if schedule.num_batches:
        warmup = min(schedule.num_warmup, schedule.num_batches)
        return f"{warmup} warm-up, then {schedule.num_batches - warmup} timed"
    wish = f"--num_batches={run.num_batches}"
    if setup.data.num_batches is not None:
        wish = f"--num_epochs={run.num_epochs}"
    if setup.history.has_stalled(run.patience):
        wish = f"--patience={run.patience}"
    return f"nothing left to train; for more give more than {wish}"


def describe_keeping(config: TrainConfig) -> str:
    """What there will be when it has ended."""
    run, decay = config.run, config.optimizer.ema_decay
    if not run.output_dir:
        return "nothing: no --output_dir is given"
    clocks = {"steps": run.save_every_steps, "minutes": run.save_every_minutes}
    often = [f"every {each:,g} {unit}" for unit, each in clocks.items() if each]
    parts = [f"checkpoints in {run.output_dir} {', '.join([*often, 'at the end'])}"]
    parts += [f"the best of evaluations every {run.eval_every:,} steps"] * bool(run.eval_every)
    parts += [f"a moving average of the weights (decay {decay:g})"] * bool(decay)
    return "; ".join(parts)


def describe(model: ModelConfig) -> str:
    """One phrase for the plan."""
    encoder = str(model.num_encoder_layers)
    if model.direction == "bi":
        encoder = f"{model.num_encoder_layers // 2} bidirectional"
    layers = f"{encoder} + {model.num_decoder_layers} layers of {model.num_units} units"
    text = f"{model.encoder_type} encoder, {layers}"
    return text if model.attention == NO_ATTENTION else f"{text}, {model.attention} attention"


def global_batch(config: TrainConfig) -> str:
    """What all replicas of a step eat."""
    num_replicas = devices.resolved_num_replicas(config.parallel)
    words, sentences = config.data.batch_words, config.data.batch_size
    size, unit = (words, "words, about") if words else (sentences, "sentences")
    return f"global batch {num_replicas * size} = {num_replicas} x {size} {unit}"
