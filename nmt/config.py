"""Everything a run can be told, as frozen dataclasses; the command line is made from them.

This module and `nmt.flags` do not import TensorFlow, so help and mistakes are answered at once.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final

VARIABLE_UPDATES: Final = ("parameter_server", "replicated", "independent")
WITH_INDEPENDENT_REPLICA: Final = ("replicated", "independent")
ENCODER_TYPES: Final = ("dynamic_rnn", "cudnn_lstm")
PARAMETER_DEVICES: Final = ("cpu", "gpu")
SPARSE_GRADIENTS: Final = ("auto", "sparse", "dense")
CONSISTENCIES: Final = ("strong", "relaxed")
DIRECTIONS: Final = ("uni", "bi")
NO_ATTENTION: Final = "none"
ATTENTIONS: Final = (NO_ATTENTION, "luong", "scaled_luong", "bahdanau", "normed_bahdanau")
DATASETS: Final = ("auto", "wmt14", "files", "demo", "synthetic")
TEXT: Final = ("wmt14", "files", "demo")  # datasets that are text
FILES: Final = ("files",)
VOCAB_TYPES: Final = ("auto", "unigram", "bpe", "char", "word")
DEFAULT_VOCAB_SIZE: Final = 8000
LARGEST: Final = 2**31 - 1  # of whole numbers
MAX_VOCAB_SIZE: Final = 10_000_000
DEFAULT_BATCH_SIZE: Final = 64
OPTIMIZERS: Final = ("sgd", "adam", "adamw")
PROFILE: Final = "profile"
MAX_LENGTH: Final = 100_000
LENGTH_FACTOR: Final = 2
SPARE_WORDS: Final = 50
"""Unless told otherwise, a translation may be so many times as long as its source; where those of
training were longer, so many words are added at most."""
# Seeds are 32-bit numbers to which the replica's number is added.
MAX_SEED: Final = 2_000_000_000
DECAYS: Final = ("none", "inverse_sqrt", "exponential")


@dataclass(frozen=True)
class Option:
    """What the command line says of one field."""

    help: str
    choices: tuple[str, ...] = ()
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    only: tuple[str, ...] = ()  # datasets it means something to; all if empty

    def complaint(self, value: Any) -> str | None:
        """What is wrong with a value of the right type and what to give instead, or None."""
        if self.choices and value not in self.choices:
            return f"choose one of: {', '.join(self.choices)}"
        if type(value) is int and value > LARGEST:
            return f"give at most {self.at_most or LARGEST:,}"
        if self.at_least is not None and value < self.at_least:
            return f"give at least {self.at_least:,}"
        if self.above is not None and not value > self.above:
            return f"give more than {self.above:,}"
        if self.at_most is not None and value > self.at_most:
            return f"give at most {self.at_most:,}"
        if self.below is not None and not value < self.below:
            return f"give less than {self.below:,}"
        return None


def option(default: Any, text: str, **limits: Any) -> Any:
    """A dataclass field that carries its own help and limits."""
    return dataclasses.field(default=default, metadata={"option": Option(text, **limits)})


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Data."""

    dataset: str = option(
        "auto",
        "what to train on: 'wmt14' is English-German as tensorflow-datasets prepares it, 'files' "
        "are your own, 'demo' is a built-in English-German corpus, 'synthetic' are random ids "
        "with no input cost; 'auto' takes files where they are named, WMT14 where it is "
        "prepared, else the demo corpus",
        choices=DATASETS,
    )
    use_synthetic_data: bool = option(False, "the same as --dataset=synthetic")
    data_dir: str = option(
        "",
        "where tensorflow-datasets has prepared WMT14; its own default if empty",
        only=("wmt14",),
    )
    reverse: bool = option(False, "German to English", only=("wmt14", "demo"))
    src_file_name: str = option(
        "",
        "training sentences, one a line, plain or gzipped; several files and globs are separated "
        "by commas",
        only=FILES,
    )
    tgt_file_name: str = option("", "their translations, line by line", only=FILES)
    dev_src_file_name: str = option(
        "",
        "dev set, source side: what --eval_every evaluates on, and what --evaluate translates if "
        "no test file is given",
        only=FILES,
    )
    dev_tgt_file_name: str = option("", "their translations", only=FILES)
    test_src_file_name: str = option("", "sentences that --evaluate translates", only=FILES)
    test_tgt_file_name: str = option("", "their translations", only=FILES)
    vocab_type: str = option(
        "auto",
        "what one id is: a SentencePiece 'unigram' or 'bpe' piece, a 'char' or a 'word'; 'auto' is "
        "unigram, or word for the demo corpus, which is already split into words",
        choices=VOCAB_TYPES,
        only=TEXT,
    )
    joint_vocab: bool = option(False, "one vocabulary for both languages", only=TEXT)
    src_vocab_file: str = option(
        "",
        "source vocabulary: a SentencePiece .model, or words, one a line, beginning with <unk>, "
        "<s>, </s>; if empty, it is learned once from the training sentences",
        only=TEXT,
    )
    tgt_vocab_file: str = option("", "target vocabulary, in the same form", only=TEXT)
    src_vocab_size: int = option(
        0,
        f"size of the source vocabulary; 0: that of --src_vocab_file, else {DEFAULT_VOCAB_SIZE:,}, "
        "or fewer if the text has fewer",
        at_least=0,
        at_most=MAX_VOCAB_SIZE,
    )
    tgt_vocab_size: int = option(
        0, "the same for the target vocabulary", at_least=0, at_most=MAX_VOCAB_SIZE
    )
    cache_dir: str = option(
        "",
        "where learned vocabularies and encoded text are kept for the next run; if empty, "
        "many-device-nmt in your cache directory",
        only=("wmt14", "files"),
    )
    src_max_len: int = option(
        50,
        "longest source sentence in words; the length of every synthetic one",
        at_least=1,
        at_most=MAX_LENGTH,
    )
    tgt_max_len: int = option(
        50, "longest target sentence in words, </s> included", at_least=1, at_most=MAX_LENGTH
    )
    batch_size: int = option(
        DEFAULT_BATCH_SIZE, "sentences per replica and step", at_least=1, at_most=10_000_000
    )
    batch_words: int = option(
        0,
        "approximate number of words, source and target, per replica and step; replaces "
        "--batch_size",
        at_least=0,
        only=TEXT,
    )
    num_buckets: int = option(
        5,
        "number of length buckets; each batch comes from one of them",
        at_least=1,
        at_most=1000,
        only=TEXT,
    )
    prefetch_data_to_device: bool = option(
        True, "prepare the next batches and copy them to their devices during a step", only=TEXT
    )

    @property
    def synthetic_vocab_sizes(self) -> tuple[int, int]:
        """Sizes where no text says otherwise."""
        return self.src_vocab_size or DEFAULT_VOCAB_SIZE, self.tgt_vocab_size or DEFAULT_VOCAB_SIZE


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Model."""

    encoder_type: str = option(
        "dynamic_rnn",
        "how the encoder is computed; the model is the same, and cudnn_lstm is the faster way",
        choices=ENCODER_TYPES,
    )
    direction: str = option(
        "uni", "'bi': half of --num_encoder_layers run forward, half backward", choices=DIRECTIONS
    )
    num_units: int = option(512, "units of every LSTM layer", at_least=1, at_most=65_536)
    embedding_dim: int = option(512, "size of a word's embedding", at_least=1, at_most=65_536)
    num_encoder_layers: int = option(4, "LSTM layers of the encoder", at_least=1, at_most=1000)
    num_decoder_layers: int = option(4, "LSTM layers of the decoder", at_least=1, at_most=1000)
    attention: str = option(
        NO_ATTENTION,
        "how the decoder attends to source words; it is computed after the decoder's layers, so "
        "neither encoder nor decoder becomes slower",
        choices=ATTENTIONS,
    )
    residual: bool = option(False, "every layer but the first adds its input to its output")
    tied_embeddings: bool = option(
        False,
        "use the target embedding as the output projection too",
    )
    dropout: float = option(
        0.0, "fraction of every layer's inputs dropped in training", at_least=0, below=1
    )
    label_smoothing: float = option(
        0.0, "fraction of each label's probability spread over all words", at_least=0, below=1
    )
    mixed_precision: bool = option(
        False, "compute in bfloat16, keep variables in float32 (needs a device that has it)"
    )


@dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """Optimizer."""

    optimizer: str = option("adam", "update rule", choices=OPTIMIZERS)
    learning_rate: float = option(0.001, "learning rate, before decay", above=0)
    warmup_steps: int = option(
        0, "steps over which the learning rate rises linearly from 0", at_least=0
    )
    learning_rate_decay: str = option(
        "none", "how the learning rate falls after --warmup_steps", choices=DECAYS
    )
    decay_steps: int = option(
        1000,
        "time scale of the decay: after n times this many steps --learning_rate is multiplied by "
        "--decay_rate to the power of n ('exponential') or by 1 / sqrt(1 + n) ('inverse_sqrt')",
        at_least=1,
    )
    decay_rate: float = option(0.5, "'exponential': factor per --decay_steps", above=0, at_most=1)
    max_gradient_norm: float = option(
        5.0, "gradients are scaled down to this global norm; 0 leaves them alone", at_least=0
    )
    ema_decay: float = option(
        0.0,
        "decay per step of a moving average of the weights, such as 0.999, which is then what is "
        "evaluated and translated with; 0: none",
        at_least=0,
        below=1,
    )
    weight_decay: float = option(
        0.01,
        "'adamw': fraction of every matrix subtracted per step, times the learning rate",
        at_least=0,
    )


@dataclass(frozen=True, kw_only=True)
class ParallelConfig:
    """Devices and variables."""

    variable_update: str = option(
        "replicated", "how replicas share variables", choices=VARIABLE_UPDATES
    )
    independent_replica: bool = option(
        False, "with --variable_update=replicated: the same as --variable_update=independent"
    )
    local_parameter_device: str = option(
        "gpu",
        "'parameter_server': 'gpu' spreads the variables over the replicas' devices (which are the "
        "CPU's where there is no GPU), 'cpu' keeps them on --param_server_device",
        choices=PARAMETER_DEVICES,
    )
    param_server_device: str = option(
        "cpu:0", "'parameter_server': the device of --local_parameter_device=cpu"
    )
    all_reduce_spec: str = option(
        "",
        "'replicated': how gradients are summed: nccl, xring, rechd, pscpu, psgpu or "
        "hierarchical_copy, '#4' behind it for four parts, 'pscpu:32k:xring' for another way up to "
        "a size; nccl if empty, which without GPUs becomes pscpu, as fast as any on a host",
    )
    gradient_repacking: int = option(
        0,
        "'replicated': pack gradients into this many buffers of similar size; 0: no packing",
        at_least=0,
    )
    agg_small_grads_max_bytes: int = option(
        0, "'replicated': gradients up to this size are sent in groups; 0: none", at_least=0
    )
    agg_small_grads_max_group: int = option(10, "most gradients in a group", at_least=1)
    compact_gradient_transfer: bool = option(
        False, "'replicated': send gradients in 16 bits (bfloat16; nccl: float16)"
    )
    sparse_gradients: str = option(
        "auto",
        "how gradients of embeddings are sent: 'sparse' sends only the rows of a batch's words, "
        "'dense' all rows, 'auto' whichever is fewer bytes; the result is the same",
        choices=SPARSE_GRADIENTS,
    )
    variable_consistency: str = option(
        "strong",
        "'replicated': 'relaxed' applies each step's gradients one step later, so that no step "
        "waits for the exchange",
        choices=CONSISTENCIES,
    )
    num_replicas: int = option(
        0,
        "model copies, one per device; 0 takes every visible GPU, or one CPU device",
        at_least=0,
        at_most=1024,
    )
    num_intra_threads: int = option(
        0,
        "threads within an operation; 0: one per core, divided among CPU replicas",
        at_least=0,
        at_most=4096,
    )
    num_inter_threads: int = option(
        0,
        "operations run at once; 0: one per core, with GPUs more than there are replicas",
        at_least=0,
        at_most=4096,
    )

    @property
    def strategy(self) -> str:
        """The name of the strategy that runs."""
        return "independent" if self.independent_replica else self.variable_update


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Run and report."""

    num_warmup_batches: int = option(10, "batches before the clock starts", at_least=0)
    num_batches: int = option(20, "batches that are timed", at_least=1)
    num_epochs: int = option(
        0, "passes over the training data, in place of --num_batches", at_least=0
    )
    log_every: int = option(10, "batches between two progress lines", at_least=1)
    evaluate: bool = option(
        False, "after training, translate the test set; print BLEU and some examples"
    )
    eval_every: int = option(
        0,
        "steps between two evaluations on the dev set (loss, perplexity, BLEU, chrF); the "
        "checkpoint with the highest BLEU is kept; 0: none",
        at_least=0,
    )
    patience: int = option(
        0, "stop after this many evaluations in a row without improvement; 0: never", at_least=0
    )
    output_dir: str = option("", "where checkpoints go; the same command resumes from them")
    save_every_steps: int = option(0, "steps between two checkpoints; 0: only by time", at_least=0)
    save_every_minutes: float = option(
        10.0, "minutes between two checkpoints; 0: only by steps, and at the end", at_least=0
    )
    num_keep_ckpts: int = option(
        5,
        "number of newest checkpoints kept, in addition to the best one and the newest one after "
        "which the loss was finite",
        at_least=1,
    )
    skip_nan_steps: bool = option(
        False, "skip and count steps whose gradient is not finite, instead of stopping"
    )
    deterministic: bool = option(
        False, "bit-identical results in every run on the same machine, at some cost in speed"
    )
    results_file: str = option("", "file to which each run appends one line of JSON")
    report_phases: bool = option(
        False, "after the timed batches, measure how long each phase of a step takes"
    )
    enable_profile: bool = option(
        False,
        "after the timed batches, trace two steps for TensorBoard's profiler, into 'profile' in "
        "--output_dir or in the current directory",
    )
    trace_file: str = option(
        "", "file for the same trace in Chrome's format; compressed if it ends in .gz"
    )
    seed: int = option(
        1, "seed of starting weights, order of batches and dropout", at_least=0, at_most=MAX_SEED
    )
    verbosity: int = option(0, "1 shows TensorFlow's own messages", at_least=0)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """A whole run; the parts are in the order in which --help lists them."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    parallel: ParallelConfig = ParallelConfig()
    run: RunConfig = RunConfig()
