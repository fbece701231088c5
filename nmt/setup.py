"""What a run works with: data, model and strategy put together from its configuration."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

from input_pipeline.choice import dataset_of
from input_pipeline.corpus import Pair
from input_pipeline.kept_vocabularies import put_back
from input_pipeline.sources import SOURCES, Source
from input_pipeline.training_data import Request, TrainingData
from nmt.config import ParallelConfig, TrainConfig
from nmt.judging.dev import name_of
from nmt.judging.history import History
from nmt.machine import devices
from nmt.network.model import Model, make_model
from nmt.network.weights import VocabularySizes, backward_order, create_variables
from nmt.occasions import Schedule
from nmt.optimizers import make_optimizer
from nmt.storage import checkpoints, model_dir
from nmt.trainer import Trainer
from variable_update.base import Ingredients
from variable_update.exchange import make_exchange
from variable_update.packing import Packing
from variable_update.rows import Embedding
from variable_update.rows import choose as choose_rows
from variable_update.strategies import STRATEGIES


class Setup(NamedTuple):
    """What a run works with."""

    config: TrainConfig
    data: TrainingData
    trainer: Trainer
    schedule: Schedule
    resumed: Path | None  # the checkpoint it goes on from
    first: int  # the batch it goes on with
    history: History  # of what it goes on from


def make_trainer(config: TrainConfig, data: TrainingData, names: tuple[str, ...]) -> Trainer:
    """Builds the model and its variables on the given devices."""
    kind = "GPU" if devices.is_gpu(names[0]) else "CPU"
    model = make_model(config.model, VocabularySizes(*data.vocabulary_sizes), kind)
    parallel = config.parallel
    strategy = STRATEGIES[parallel.strategy](
        Ingredients(
            names,
            functools.partial(create_variables, model.flat_specs, config.run.seed),
            [spec.num_bytes for spec in model.flat_specs],
            functools.partial(make_optimizer, config.optimizer),
            servers(parallel, names),
            make_exchange(
                parallel.all_reduce_spec,
                packing(parallel, model),
                gpu=kind == "GPU",
                compact=parallel.compact_gradient_transfer,
            ),
            parallel.variable_consistency == "relaxed" and len(names) > 1,
            choose_rows(parallel, names, embeddings(config, model)),
            config.run.skip_nan_steps,
        )
    )
    return Trainer(model, strategy, config.run.seed, data.spaces, config.optimizer.ema_decay)


def servers(config: ParallelConfig, names: tuple[str, ...]) -> tuple[str, ...]:
    """The devices that hold a single copy of the variables, named as replicas' devices are."""
    return (
        names if config.local_parameter_device == "gpu" else (config.param_server_device.upper(),)
    )


def embeddings(config: TrainConfig, model: Model) -> dict[int, Embedding]:
    """The embeddings by their numbers, with how many words a batch can have at most."""
    data, specs = config.data, model.flat_specs
    synthetic = dataset_of(data) == "synthetic"  # which is as long on both sides
    target_len = data.src_max_len if synthetic else data.tgt_max_len
    lengths = {"source_embedding": data.src_max_len, "target_embedding": target_len}
    found = {}
    if config.model.tied_embeddings:
        del lengths["target_embedding"]  # every word is predicted with it
    for number, spec in enumerate(specs):
        if spec.name in lengths:
            ids = data.batch_words or data.batch_size * lengths[spec.name]
            size, depth = spec.shape
            found[number] = Embedding(size, depth, min(ids, size))
    return found


def packing(config: ParallelConfig, model: Model) -> Packing:
    """What travels together."""
    return Packing(
        config.gradient_repacking,
        config.agg_small_grads_max_bytes,
        config.agg_small_grads_max_group,
        tuple(backward_order(model.specs)),
    )


def set_up(config: TrainConfig, sources: Mapping[str, Source] = SOURCES) -> Setup:
    """Reads data, builds the model on this machine's devices, restores a checkpoint."""
    names = devices.configure(config.parallel)
    run = config.run
    if run.deterministic:
        tf.config.experimental.enable_op_determinism()
    resumed = checkpoints.newest_whole(Path(run.output_dir)) if run.output_dir else None
    if resumed:
        model_dir.refuse_other_model(config, resumed)
        put_back(resumed, Path(run.output_dir))
    data = sources[dataset_of(config.data)](make_request(config, names))
    trainer = make_trainer(config, data, names)
    history = History()
    if resumed:
        checkpoints.restore(trainer, resumed)
        history = looks_at(data.dev, model_dir.read_history(resumed))
    first = first_batch(trainer, data)
    left = num_left(config, data, first, int(trainer.step))
    if history.has_stalled(run.patience):
        left = 0
    schedule = Schedule(run.num_warmup_batches, left, run.log_every)
    return Setup(config, data, trainer, schedule, resumed, first, history)


def looks_at(dev: Sequence[Pair], history: History) -> History:
    """What the looks before say of this run's dev set; those at another are not compared with."""
    found = history.of(name_of(dev)) if dev else history
    if others := len(history.scores) - len(found.scores):
        print(f"the dev set is another one: {others} evaluations before do not count any more")
    return found


def make_request(config: TrainConfig, names: tuple[str, ...]) -> Request:
    """What the run wants of its data."""
    run = config.run
    return Request(
        config.data,
        names,
        run.num_epochs,
        run.seed,
        dev=bool(run.eval_every),
        test=run.evaluate,
        output_dir=run.output_dir,
    )


def first_batch(trainer: Trainer, data: TrainingData) -> int:
    """Where the data goes on; another size of batch makes another number of the same place."""
    return round(float(trainer.epochs) * (data.batches_per_epoch or 0))


def num_left(config: TrainConfig, data: TrainingData, first: int, step: int) -> int:
    """How many batches to train on: a run ends where it would have without a restart."""
    run = config.run
    total = run.num_warmup_batches + run.num_batches - step
    return max(0, total if data.num_batches is None else data.num_batches - first)
