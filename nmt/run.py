"""A whole run: data, model and strategy put together, trained, reported."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from input_pipeline.sources import SOURCES, Request, Source, TrainingData
from nmt import checkpoints, devices, environment, results
from nmt.config import TrainConfig
from nmt.evaluation import evaluate, summary
from nmt.loop import Schedule, train_loop
from nmt.model import make_model
from nmt.optimizers import make_optimizer
from nmt.reporter import Reporter
from nmt.schedules import learning_rate
from nmt.throughput import Meter
from nmt.trainer import Trainer
from nmt.weights import VocabularySizes, create_variables
from variable_update.strategies import STRATEGIES


class Setup(NamedTuple):
    """What a run works with."""

    config: TrainConfig
    data: TrainingData
    trainer: Trainer
    schedule: Schedule


def make_trainer(config: TrainConfig, sizes: tuple[int, int], names: tuple[str, ...]) -> Trainer:
    """Builds the model and its variables on the given devices."""
    kind = "GPU" if devices.is_gpu(names[0]) else "CPU"
    model = make_model(config.model, VocabularySizes(*sizes), kind)
    strategy = STRATEGIES[config.parallel.strategy](
        names,
        functools.partial(create_variables, model.flat_specs, config.run.seed),
        functools.partial(make_optimizer, config.optimizer),
    )
    return Trainer(model, strategy, config.run.seed)


def make_schedule(config: TrainConfig, num_batches: int | None) -> Schedule:
    """How many batches to train on; the data decides where it ends by itself."""
    run = config.run
    total = num_batches or run.num_warmup_batches + run.num_batches
    return Schedule(run.num_warmup_batches, total, run.log_every)


def set_up(config: TrainConfig, sources: Mapping[str, Source] = SOURCES) -> Setup:
    """Reads data and builds the model, on this machine's devices."""
    names = devices.configure(config.parallel)
    run = config.run
    request = Request(config.data, names, run.num_epochs, run.seed)
    data = sources[config.data.resolved_dataset](request)
    trainer = make_trainer(config, data.vocabulary_sizes, names)
    return Setup(config, data, trainer, make_schedule(config, data.num_batches))


def plan(setup: Setup) -> str:
    """What is about to happen, before it does."""
    config, trainer = setup.config, setup.trainer
    names, model = trainer.strategy.devices, config.model
    size = config.data.batch_size
    lines = {
        "data": setup.data.description,
        "model": f"{trainer.model.num_parameters:,} parameters; {model.encoder_type} encoder "
        f"({model.direction}), {model.num_encoder_layers} + {model.num_decoder_layers} layers of "
        f"{model.num_units} units; {config.optimizer.optimizer}",
        "replicas": f"{len(names)} on {', '.join(names)}; global batch {len(names) * size} = "
        f"{len(names)} x {size} sentences",
        "variables": trainer.strategy.describe(),
        "batches": f"{setup.schedule.num_warmup} warm-up, then "
        f"{max(0, setup.schedule.num_batches - setup.schedule.num_warmup)} timed",
        "runtime": environment.describe(),
    }
    return "\n".join(f"{name:<10}{text}" for name, text in lines.items())


def run(config: TrainConfig, sources: Mapping[str, Source] = SOURCES) -> dict[str, Any]:
    """Trains as the configuration says and gives the record of the run."""
    setup = set_up(config, sources)
    print(plan(setup), flush=True)
    resume(setup)
    meter = Meter(config.run.num_warmup_batches)
    finished = train(setup, meter)
    record = results.make_record(config, setup.trainer, meter)
    if not finished:
        print(f"broken off after {len(meter.losses)} batches", flush=True)
    if config.run.output_dir:
        print(f"saved {checkpoints.save(setup.trainer, Path(config.run.output_dir))}", flush=True)
    print("\n" + results.table(record), flush=True)
    if finished and config.run.evaluate:
        record["bleu"] = report_evaluation(setup)
    if config.run.results_file:
        results.append(record, Path(config.run.results_file))
    return record


def resume(setup: Setup) -> None:
    """Goes on from the newest checkpoint of --output_dir, where there is one."""
    if setup.config.run.output_dir:
        path = checkpoints.restore(setup.trainer, Path(setup.config.run.output_dir))
        if path:
            print(f"resumed from {path}, step {int(setup.trainer.step)}", flush=True)


def train(setup: Setup, meter: Meter) -> bool:
    """Runs the loop under a reporter; False when the user broke it off."""
    trainer = setup.trainer

    def rate() -> float:
        return float(learning_rate(setup.config.optimizer, trainer.step - 1))

    with Reporter(meter, setup.schedule.num_batches, rate) as out:
        finished = train_loop(trainer, setup.data.batches, setup.schedule, out)
    meter.read()
    return finished


def report_evaluation(setup: Setup) -> float:
    """Prints BLEU and examples of the test split."""
    assert setup.data.vocabularies is not None, "find_problems refuses data without a test split"
    weights = setup.trainer.strategy.copies[0].variables
    evaluation = evaluate(
        setup.trainer.model,
        weights,
        setup.data.test,
        setup.data.vocabularies,
        setup.config.data.tgt_max_len,
    )
    print("\n" + summary(evaluation), flush=True)
    return evaluation.bleu
