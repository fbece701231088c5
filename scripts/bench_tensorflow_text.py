"""Measures the alternative to the encoded cache: SentencePiece inside tf.data, by tensorflow-text.

tensorflow-text follows TensorFlow's versions and has none for 2.21: it needs a place of its own.

    python3 -m venv text && text/bin/pip install tensorflow==2.20.0 tensorflow-text==2.20.1
    text/bin/python scripts/bench_tensorflow_text.py SOURCE.gz TARGET.gz SOURCE.model TARGET.model

Reads gzipped text, encodes it on all cores, leaves out what is empty or over 50 words, shuffles,
buckets and pads at batch 64; prints figures as scripts/bench_input.py has them for its own cells.
The boundaries of the buckets are given, since lengths are not known before the text is encoded.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

NAME = "bench_tensorflow_text.py"
try:
    import tensorflow_text
except ImportError as missing:
    wanted = "tensorflow==2.20.0 and tensorflow-text==2.20.1"
    print(f"{NAME}: {missing}; it needs an environment with {wanted}", file=sys.stderr)
    sys.exit(2)
else:
    import tensorflow as tf

MAX_LENGTH, BATCH_SIZE, SHUFFLED = 50, 64, 100_000
BOUNDARIES = [19, 26, 34, 42]


def encoded(path: str, model: str) -> tf.data.Dataset:
    """Ids of every line."""
    tokenizer = tensorflow_text.SentencepieceTokenizer(Path(model).read_bytes())
    lines = tf.data.TextLineDataset(path, compression_type="GZIP")
    return lines.map(tokenizer.tokenize, num_parallel_calls=tf.data.AUTOTUNE)


def batches(sources: str, targets: str, models: list[str]) -> tf.data.Dataset:
    """One epoch."""
    pairs = tf.data.Dataset.zip((encoded(sources, models[0]), encoded(targets, models[1])))
    pairs = pairs.map(lambda s, t: (s, tf.concat([t, [2]], 0)))
    pairs = pairs.filter(
        lambda s, t: (tf.size(s) > 0) & (tf.size(s) <= MAX_LENGTH) & (tf.size(t) <= MAX_LENGTH)
    )
    pairs = pairs.shuffle(SHUFFLED, seed=1).map(lambda s, t: (s, tf.size(s), t, tf.size(t)))
    pairs = pairs.bucket_by_sequence_length(
        lambda _, s, __, t: tf.maximum(s, t), BOUNDARIES, [BATCH_SIZE] * (len(BOUNDARIES) + 1)
    )
    return pairs.prefetch(tf.data.AUTOTUNE)


def main() -> None:
    """Reads one epoch and prints what it took."""
    if len(sys.argv) != 5:
        print(f"{NAME}: give SOURCE.gz TARGET.gz SOURCE.model TARGET.model", file=sys.stderr)
        sys.exit(2)
    sources, targets, *models = sys.argv[1:]
    begun, cpu = time.time(), time.process_time()
    words = places = 0
    first = 0.0
    for source, source_lengths, target, target_lengths in batches(sources, targets, models):
        first = first or time.time()
        words += int(source_lengths.numpy().sum() + target_lengths.numpy().sum())
        places += source.numpy().size + target.numpy().size
    figures = {
        "words": words,
        "words_per_s": words / (time.time() - begun),
        "first_batch_s": first - begun,
        "cpu_s": time.process_time() - cpu,
        "padding": 1 - words / places,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
