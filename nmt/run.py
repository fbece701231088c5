"""A whole run: planned, trained, saved, reported."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import tensorflow as tf

from input_pipeline.sources import SOURCES, Source
from nmt.config import ParallelConfig, TrainConfig
from nmt.errors import Diverged, SaveFailed, UserError
from nmt.interrupt import Interrupt, SafePoint, signals_noted
from nmt.judging.evaluation import evaluate, summary
from nmt.keeper import Keeper
from nmt.loop import Ending, train_loop
from nmt.machine import devices
from nmt.measuring.flops import matmul_flops_per_s
from nmt.measuring.inspection import inspect, without_end
from nmt.measuring.throughput import Meter
from nmt.reporting import results
from nmt.reporting.plan import global_batch, plan
from nmt.reporting.reporter import Reporter
from nmt.search.beam import long_enough
from nmt.search.translation import Translator
from nmt.setup import Setup, set_up
from nmt.storage import lock, model_dir
from nmt.trainer import Trainer

Record = dict[str, Any]


def run(config: TrainConfig, sources: Mapping[str, Source] = SOURCES) -> Record:
    """Trains as the configuration says and gives the record of the run."""
    output_dir = config.run.output_dir
    with lock.held(Path(output_dir)) if output_dir else contextlib.nullcontext() as held:
        try:
            return run_in(config, sources, held)
        except (tf.errors.ResourceExhaustedError, MemoryError) as error:
            raise UserError(
                f"not enough memory for a {global_batch(config)}; give a smaller --batch_size or "
                "--batch_words, or a smaller model"
            ) from error


def run_in(config: TrainConfig, sources: Mapping[str, Source], held: lock.Lock | None) -> Record:
    """The same in a directory that is this run's alone, if it has one."""
    setup = set_up(config, sources)
    print(plan(setup), flush=True)
    meter = Meter(config.run.num_warmup_batches)
    keeper = Keeper(setup, meter, lock=held)
    try:
        with signals_noted() as interrupt:
            return train_and_report(setup, meter, keeper, interrupt)
    finally:
        keeper.close()


def train_and_report(setup: Setup, meter: Meter, keeper: Keeper, interrupt: Interrupt) -> Record:
    """Trains, saves, and says how it went; last of all that saving failed, if it did."""
    ending = train(setup, meter, keeper, interrupt)
    if ending is not Ending.FINISHED:
        print(f"ended after {len(meter.losses)} batches: {ending.value}", flush=True)
    failed = None
    try:
        keeper.finish(len(meter.losses))
    except SaveFailed as error:
        failed = error
    record = make_record(setup, meter, keeper, ending)
    try:
        print("\n" + results.table(record), flush=True)
        nothing: dict[str, Any] = {}
        record |= interrupt.unless(partial(look, setup, meter, keeper), nothing)
    finally:
        failed = failed or keep(record, setup.config.run.results_file)
    if failed:
        raise failed
    return record


def keep(record: Record, path: str) -> SaveFailed | None:
    """Adds the record to a file, if one is named; gives what went wrong."""
    try:
        if path:
            results.append(record, Path(path))
    except OSError as error:
        return SaveFailed(f"--results_file={path} was not written: {error.strerror}; name another")
    return None


def make_record(setup: Setup, meter: Meter, keeper: Keeper, ending: Ending) -> Record:
    """Everything measured in a run."""
    trainer = setup.trainer
    held = results.memory(trainer.strategy.devices)  # before large matrices are multiplied
    machine = rate_of_matmuls(trainer, setup.config.parallel)
    record = results.make_record(setup.config, setup.data, trainer, meter, machine) | held
    scores = [score._asdict() for score in keeper.history.scores]
    return record | {"ending": ending.name.lower(), "evaluations": scores}


def rate_of_matmuls(trainer: Trainer, parallel: ParallelConfig) -> float:
    """What this machine multiplies; not a number where not all of it was to be used, or memory is
    short.
    """
    if devices.few_threads(parallel):
        return math.nan
    try:
        return matmul_flops_per_s(trainer.strategy.devices, trainer.model.compute_dtype)
    except tf.errors.ResourceExhaustedError:
        return math.nan


def train(setup: Setup, meter: Meter, keeper: Keeper, interrupt: Interrupt) -> Ending:
    """Runs the loop under a reporter."""
    schedule, skips = setup.schedule, setup.config.run.skip_nan_steps
    first = keeper.first_step
    with Reporter(meter, schedule.num_batches, keeper.rate, first_step=first, skips=skips) as out:
        batches = meter.waiting_for(setup.data.batches_from(setup.first))
        try:
            if not keeper.catch_up(interrupt):
                return Ending.STALLED
            out.go_on()
            return train_loop(setup.trainer, batches, schedule, out, keeper, interrupt)
        except Diverged as error:
            error.args = (f"{error}; {last_good(keeper, error)}",)
            raise


def last_good(keeper: Keeper, error: Diverged) -> str:
    """Where a run that has diverged can go on from."""
    if not keeper.saver:
        return "there is no checkpoint to go on from without --output_dir"
    good = keeper.saver.last_good(error)
    return f"the last good checkpoint is {good or 'not there yet'}"


def look(setup: Setup, meter: Meter, keeper: Keeper, safe_point: SafePoint) -> dict[str, Any]:
    """Evaluates and inspects a run that came to its end, as far as its flags ask for it."""
    run, step = setup.config.run, int(setup.trainer.step)
    bleu = {"bleu": report_evaluation(setup, safe_point)} if run.evaluate else {}
    wait = meter.input_wait_s / max(1, len(meter.timed_seconds))
    batches = without_end(setup.data.batches_from, safe_point)
    found = inspect(run, setup.trainer, batches, wait)
    if keeper.summaries and "phase_seconds" in found:
        phases = found["phase_seconds"]
        total = {**phases["total"], "input_wait": wait, "step": phases["step"]}
        keeper.summaries.phases(step, total)
    return bleu | found


def report_evaluation(setup: Setup, safe_point: SafePoint) -> float:
    """Prints BLEU and examples of the test split, translated by the best model there is."""
    trainer, data = setup.trainer, setup.data
    assert data.vocabularies is not None, "find_problems refuses data without a test split"
    output_dir = setup.config.run.output_dir
    best = model_dir.best(Path(output_dir)) if output_dir else None
    if best and (warning := model_dir.not_looked_at(Path(output_dir), best)):
        print(f"\n{warning}", flush=True)
    weights = model_dir.read_weights(trainer.model, best) if best else trainer.weights
    search = long_enough(setup.config.data.tgt_max_len)
    translator = Translator(trainer.model, weights, *data.vocabularies, search)
    evaluation = evaluate(translator, data.test, tokenized=data.tokenized, safe_point=safe_point)
    unseen = "test" if data.test != data.dev else "dev"
    print("\n" + summary(evaluation, f"unseen {unseen} sentences"), flush=True)
    return evaluation.bleu
