"""Measures training against PyTorch and OpenNMT-tf: the same model on the same batches.

    make bench FLAGS="--src_file_name=train.en --tgt_file_name=train.de"

Every cell is a fresh process on all cores, every round goes through all cells. Words, batches,
their padding and the weights to begin with are the same for all. A second table is of synthetic
ids, unless --dataset names one.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.command_line import REST, Parser
from benchmarks.environments import python_of
from benchmarks.rounds import (
    Cells,
    Failed,
    Found,
    Record,
    measure,
    median,
    output_of,
    parse,
    ratio,
    table,
    train,
)
from input_pipeline.choice import dataset_of
from nmt.config import DataConfig, ModelConfig, OptimizerConfig, ParallelConfig, TrainConfig
from nmt.programs import REFUSED

DEFAULTS = ["--direction=bi"]
SYNTHETIC = ["--dataset=synthetic", "--src_max_len=25", "--tgt_max_len=25"]
MOST_APART = {"float32": {0: 1e-3, -1: 0.02}, "bfloat16": {0: 1e-3, -1: 0.05}}
"""How far losses may lie apart, the first and the last one: those in float32 from each other, those
in 16 bits from all. What rounding, the place of Adam's epsilon and the padding that PyTorch reads
make of them stays below."""

PEERS = {
    "PyTorch, nn.LSTM": ("pytorch", []),
    "PyTorch, nn.LSTM, packed": ("pytorch", ["--packed"]),
    "PyTorch, nn.LSTM, packed, bfloat16": ("pytorch", ["--packed", "--bfloat16"]),
    "OpenNMT-tf": ("opennmt_tf", []),
}
"""Where each runs, and its flags. Without packing PyTorch's encoder reads padding too."""

BFLOAT16 = ["--mixed_precision"]
OURS = {
    "cudnn_lstm": ("cudnn_lstm", "replicated", 1, []),
    "dynamic_rnn": ("dynamic_rnn", "replicated", 1, []),
    "cudnn_lstm, parameter_server, 2 replicas": ("cudnn_lstm", "parameter_server", 2, []),
    "cudnn_lstm, replicated, 2 replicas": ("cudnn_lstm", "replicated", 2, []),
    "cudnn_lstm, parameter_server, 4 replicas": ("cudnn_lstm", "parameter_server", 4, []),
    "cudnn_lstm, bfloat16": ("cudnn_lstm", "replicated", 1, BFLOAT16),
}
"""Encoder type, strategy, replicas, more; all replicas together have one replica's batch."""


def our_flags(name: str, config: TrainConfig) -> list[str]:
    """What train.py gets for one of our cells."""
    encoder, strategy, count, more = OURS[name]
    return [
        f"--encoder_type={encoder}",
        f"--variable_update={strategy}",
        f"--num_replicas={count}",
        f"--batch_size={config.data.batch_size // count}",
        *more,
    ]


def run_peer(peer: str, more: Sequence[str], work: Path, config: TrainConfig) -> Record:
    """The record a peer prints."""
    command = [
        *(python_of(peer), "-m", f"benchmarks.peers.{peer}", str(work), *more),
        f"--num_warmup_batches={config.run.num_warmup_batches}",
        f"--threads={len(os.sched_getaffinity(0))}",
        f"--num_units={config.model.num_units}",
        f"--num_layers={config.model.num_decoder_layers}",
    ]
    record: Record = json.loads(output_of(command).splitlines()[-1])
    return record


def make_cells(given: Sequence[str], config: TrainConfig, work: Path) -> Cells:
    """All cells by their names."""
    ours = {name: partial(train, [*given, *our_flags(name, config)]) for name in OURS}
    peers = {
        name: partial(run_peer, peer, more, work, config) for name, (peer, more) in PEERS.items()
    }
    return ours | peers


def arithmetic_of_a_word(records: Sequence[Record]) -> float:
    """What the model multiplies and adds; all of ours count the same. 0: none of them ran."""
    ours = [record for record in records if "model_flops_per_second" in record]
    each = (r["model_flops_per_second"] / r["words_per_second"] for r in ours)
    return max(each, default=0.0)


def best_rates(records: Sequence[Record]) -> dict[str, float]:
    """The best rate of matmuls that any library reached in this run, by the type of numbers."""
    rates: dict[str, float] = {}
    for record in records:
        kind = record.get("compute_type", "float32")
        rates[kind] = max(rates.get(kind, 0.0), record.get("matmul_flops_per_second") or 0.0)
    return rates


def summary(found: Found) -> str:
    """What all of them reached, and what that is of each other and of the machine."""
    every = [record for records in found.values() for record in records]
    per_word, rates = arithmetic_of_a_word(every), best_rates(every)
    rows = []
    for name, records in found.items():
        speeds = [record["words_per_second"] for record in records]
        middle = median(records, "words_per_second")
        others = [ratio(records, found.get(other, [])) for other in PEERS]
        rate = rates[records[0].get("compute_type", "float32")]
        share = f"{middle * per_word / rate:.2f}" if per_word and rate else ""
        losses = records[-1]["losses"]
        low, high = min(speeds), max(speeds)
        row = [name, f"{middle:,.0f}", f"{low:,.0f} to {high:,.0f}", *others, share]
        rows.append([*row, f"{losses[0]:.3f}", f"{losses[-1]:.3f}"])
    heading = ["Program", "words/s (median)", "range", *(f"of {name}" for name in PEERS)]
    said = (f"{rate / 1e9:,.0f} GFLOP/s in {kind}" for kind, rate in rates.items())
    heading += ["of the machine's matmuls", "first loss", "last loss"]
    comparison = table(heading, rows)
    return f"{comparison}\n\nlarge matmuls, the best of all libraries: {', '.join(said)}"


def comparable(found: Found) -> None:
    """Ends the comparison where there is none."""
    if found:
        same_work(found)
        same_model(found)


def same_work(found: Found) -> None:
    """Everyone must have trained on the same words."""
    words = {name: {record["timed_words"] for record in of} for name, of in found.items()}
    if len(set.union(*words.values())) > 1:
        sys.exit(f"words differ, so nothing can be compared: {words}")


def same_model(found: Found) -> None:
    """Everyone must have lost as much as the others, at the first step and at the last."""
    for kind, limits in MOST_APART.items():
        compared = [
            r[-1] for r in found.values() if r[-1].get("compute_type", kind) in ("float32", kind)
        ]
        for number, most in limits.items():
            losses = [record["losses"][number] for record in compared]
            if losses and max(losses) > (1 + most) * min(losses):
                last = {name: records[-1]["losses"][number] for name, records in found.items()}
                sys.exit(f"losses differ, so these are not the same models: {last}")


def unlike_the_peers(config: TrainConfig) -> list[str]:
    """Flags that the peers know nothing of, or that do not fit them."""
    model, optimizer = config.model, config.optimizer
    layers, units = model.num_decoder_layers, model.num_units
    peers_model = ModelConfig(
        encoder_type=model.encoder_type, direction="bi", num_units=units, embedding_dim=units,
        num_encoder_layers=layers, num_decoder_layers=layers,
    )  # fmt: skip
    pairs = (
        (model, peers_model),
        (optimizer, OptimizerConfig()),
        (config.parallel, ParallelConfig()),
    )
    wrong = [
        f"--{field.name} must be {getattr(theirs, field.name)!r}"
        for given, theirs in pairs
        for field in dataclasses.fields(given)
        if getattr(given, field.name) != getattr(theirs, field.name)
    ]
    wrong += ["--deterministic must be left out"] * config.run.deterministic
    most = max(count for _, _, count, _ in OURS.values())
    return wrong + [f"--batch_size must be a multiple of {most}"] * bool(
        config.data.batch_size % most
    )


def compare(given: Sequence[str], config: TrainConfig, rounds: int) -> str:
    """Writes down what is to be trained, measures all rounds and gives the table."""
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory) / "work.npz"
        output_of([sys.executable, "-m", "benchmarks.workload", str(work), *given])
        found = measure(make_cells(given, config, work), rounds, comparable)
    if not found:
        return "nothing was measured"
    comparable(found)
    versions = {r["version"] for of in found.values() for r in of if "version" in r}
    return f"{summary(found)}\n\n{'; '.join(sorted(versions))}"


def tables_of(given: Sequence[str], data: DataConfig) -> dict[str, list[str]]:
    """The flags of each table by the dataset's name."""
    tables = {dataset_of(data): list(given)}
    if data.dataset == "auto":
        tables.setdefault("synthetic", [*given, *without_text(data), *SYNTHETIC])
    return tables


def without_text(data: DataConfig) -> list[str]:
    """Takes back what does nothing with synthetic ids, and would be refused."""
    return [
        f"--{field.name}={field.default}"
        for field in dataclasses.fields(data)
        if "synthetic" not in (field.metadata["option"].only or ["synthetic"])
    ]


def main(argv: Sequence[str]) -> None:
    """Measures and prints the tables."""
    parser = Parser("python -m benchmarks", __doc__, epilog=REST)
    mine, given, config = parse(parser, argv, DEFAULTS, 5)
    if wrong := unlike_the_peers(config):
        parser.refuse(f"to compare with the peers, {', '.join(wrong)}")
    for dataset, flags in tables_of(given, config.data).items():
        try:
            print(f"\n{dataset}\n\n{compare(flags, config, mine.rounds)}", flush=True)
        except Failed as error:
            print(error, file=sys.stderr)  # which begins with the name of who says it
            sys.exit(REFUSED)


if __name__ == "__main__":
    main(sys.argv[1:])
