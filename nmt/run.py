"""A whole run: planned, trained, saved, reported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from input_pipeline.sources import SOURCES, Source
from nmt import checkpoints, devices, environment, model_dir, results
from nmt.beam import Search
from nmt.config import NO_ATTENTION, ModelConfig, TrainConfig
from nmt.evaluation import evaluate, summary
from nmt.flops import matmul_flops_per_s
from nmt.inspection import inspect
from nmt.loop import train_loop
from nmt.reporter import Reporter
from nmt.schedules import learning_rate
from nmt.setup import Setup, set_up
from nmt.throughput import Meter
from nmt.translation import Translator
from variable_update.checks import exchange_flags


def plan(setup: Setup) -> str:
    """What is about to happen, before it does."""
    config, trainer = setup.config, setup.trainer
    names, model = trainer.strategy.devices, config.model
    lines = {
        **setup.data.description,
        "model": f"{trainer.model.num_parameters:,} parameters; {describe(model)}; "
        f"{config.optimizer.optimizer}",
        "replicas": f"{len(names)} on {', '.join(names)}; {global_batch(config, len(names))}",
        "variables": trainer.strategy.describe(),
        "batches": f"{setup.schedule.num_warmup} warm-up, then "
        f"{max(0, setup.schedule.num_batches - setup.schedule.num_warmup)} timed",
        "runtime": environment.describe(),
    }
    unused = exchange_flags(config.parallel) if len(names) == 1 else []
    if unused:
        lines["unused"] = f"{', '.join(unused)}: one replica has nothing to exchange"
    if setup.resumed:
        lines["resumed"] = f"{setup.resumed}, step {int(trainer.step)}"
    if gpus := devices.unused_gpus():
        lines["GPUs"] = f"{gpus} are here that TensorFlow cannot use; see: make venv CUDA=1"
    return "\n".join(f"{name:<11}{text}" for name, text in lines.items())


def describe(model: ModelConfig) -> str:
    """One phrase for the plan."""
    text = (
        f"{model.encoder_type} encoder ({model.direction}), {model.num_encoder_layers} + "
        f"{model.num_decoder_layers} layers of {model.num_units} units"
    )
    return text if model.attention == NO_ATTENTION else f"{text}, {model.attention} attention"


def global_batch(config: TrainConfig, num_replicas: int) -> str:
    """What all replicas of a step eat."""
    words, sentences = config.data.batch_words, config.data.batch_size
    size, unit = (words, "words, about") if words else (sentences, "sentences")
    return f"global batch {num_replicas * size} = {num_replicas} x {size} {unit}"


def run(config: TrainConfig, sources: Mapping[str, Source] = SOURCES) -> dict[str, Any]:
    """Trains as the configuration says and gives the record of the run."""
    setup = set_up(config, sources)
    print(plan(setup), flush=True)
    meter = Meter(config.run.num_warmup_batches)
    finished = train(setup, meter)
    save(setup, len(meter.losses), finished)  # nothing that comes after can lose it
    trainer = setup.trainer
    machine = matmul_flops_per_s(trainer.strategy.devices, trainer.model.compute_dtype)
    record = results.make_record(config, setup.data, trainer, meter, machine)
    try:
        print("\n" + results.table(record), flush=True)
        record |= look(setup, meter) if finished else {}
    finally:
        if config.run.results_file:
            results.append(record, Path(config.run.results_file))
    return record


def save(setup: Setup, num_batches: int, finished: bool) -> None:
    """Saves what was trained, with how far the data was read."""
    run = setup.config.run
    if not finished:
        print(f"broken off after {num_batches} batches", flush=True)
    if run.output_dir:
        batches_per_epoch = setup.data.batches_per_epoch
        if batches_per_epoch:
            setup.trainer.epochs.assign((setup.first + num_batches) / batches_per_epoch)
        directory = Path(run.output_dir)
        directory.mkdir(parents=True, exist_ok=True)
        model_dir.write_config(setup.config, directory)
        path = checkpoints.save(setup.trainer, directory, run.num_keep_ckpts)
        print(f"saved {path}", flush=True)


def look(setup: Setup, meter: Meter) -> dict[str, Any]:
    """Evaluates and inspects a run that came to its end, as far as its flags ask for it."""
    run = setup.config.run
    bleu = {"bleu": report_evaluation(setup)} if run.evaluate else {}
    wait = meter.input_wait_s / max(1, len(meter.timed_seconds))
    return bleu | inspect(run, setup.trainer, setup.data.batches_from, wait)


def train(setup: Setup, meter: Meter) -> bool:
    """Runs the loop under a reporter; False when the user broke it off."""
    trainer = setup.trainer

    def rate() -> float:
        return float(learning_rate(setup.config.optimizer, trainer.step - 1))

    with Reporter(meter, setup.schedule.num_batches, rate) as out:
        batches = meter.waiting_for(setup.data.batches_from(setup.first))
        return train_loop(trainer, batches, setup.schedule, out)


def report_evaluation(setup: Setup) -> float:
    """Prints BLEU and examples of the test split."""
    trainer, data = setup.trainer, setup.data
    assert data.vocabularies is not None, "find_problems refuses data without a test split"
    weights = trainer.strategy.copies[0].variables
    search = Search(max_length=setup.config.data.tgt_max_len)
    translator = Translator(trainer.model, weights, *data.vocabularies, search)
    evaluation = evaluate(translator, data.test, tokenized=data.tokenized)
    print("\n" + summary(evaluation), flush=True)
    return evaluation.bleu
