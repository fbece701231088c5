"""The model in OpenNMT-tf: its layers, its loss, its optimizer, its way to compute gradients."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import opennmt
import tensorflow as tf

from benchmarks.peers.work import BOS, Batch, Work, layer_weights, parse, run

Features = dict[str, tf.Tensor]


class StatesBridge(opennmt.layers.Bridge):
    """Hands the states of both directions of an encoder layer to two decoder layers."""

    def call(self, states: Any) -> Any:
        """Takes the encoder's states and the decoder's zeros."""
        layers, zeros = states
        halves = []
        for outputs, cells in layers:
            halves += [*zip(tf.split(outputs, 2, axis=1), tf.split(cells, 2, axis=1))]
        return tf.nest.pack_sequence_as(zeros, tf.nest.flatten(halves))


def make_model(work: Work) -> opennmt.models.SequenceToSequence:
    """The same layers, sizes and first weights, without attention and dropout."""
    units = work.units
    model = opennmt.models.SequenceToSequence(
        opennmt.inputters.WordEmbedder(units),
        opennmt.inputters.WordEmbedder(units),
        opennmt.encoders.LSTMEncoder(work.layers // 2, units, bidirectional=True, dropout=0),
        opennmt.decoders.RNNDecoder(work.layers, units, bridge_class=StatesBridge, dropout=0),
    )
    model.decoder.output_layer_bias = False
    with tempfile.TemporaryDirectory() as directory:
        names = [write_words(Path(directory), size) for size in work.vocabulary_sizes]
        files = dict(zip(("source_vocabulary", "target_vocabulary"), names))
        model.initialize(files, params={"average_loss_in_time": True})
        model.create_variables()
    model.set_weights(weights_in_order(work))
    return model


def weights_in_order(work: Work) -> list[np.ndarray]:
    """The weights that everyone begins with, as OpenNMT-tf's variables stand."""
    weights = [work.weights["source_embedding"], work.weights["target_embedding"]]
    for layer in range(work.layers // 2):
        for way in ("forward", "backward"):
            weights += layer_weights(work, "encoder", layer, way)
    for layer in range(work.layers):
        weights += layer_weights(work, "decoder", layer)
    return [*weights, work.weights["projection"]]


def write_words(directory: Path, size: int) -> str:
    """A vocabulary file of any words; OpenNMT-tf adds one for unknown ones."""
    path = directory / f"{size}.txt"
    path.write_text("".join(f"word{number}\n" for number in range(size - 1)))
    return str(path)


def to_features(batch: Batch) -> tuple[Features, Features]:
    """Inputs as OpenNMT-tf's own reader makes them."""
    begin = np.full([len(batch.target), 1], BOS, batch.target.dtype)
    before = np.concatenate([begin, batch.target[:, :-1]], axis=1)
    ids = {"ids": before, "ids_out": batch.target, "length": batch.target_lengths}
    source = {"ids": batch.source, "length": batch.source_lengths}
    return tensors(source), tensors(ids)


def tensors(parts: dict[str, np.ndarray]) -> Features:
    """Arrays as tensors."""
    return {name: tf.constant(part) for name, part in parts.items()}


def any_size(features: Features) -> dict[str, tf.TensorSpec]:
    """What one traced function takes for batches of every size."""
    return {
        name: tf.TensorSpec([None] * len(value.shape), value.dtype)
        for name, value in features.items()
    }


def main() -> None:
    """Trains and prints the speed."""
    work = parse()
    tf.config.threading.set_intra_op_parallelism_threads(work.threads)
    model = make_model(work)
    optimizer = opennmt.optimizers.make_optimizer("Adam", 0.001, epsilon=1e-8)
    batches = [to_features(batch) for batch in work.batches]

    @tf.function(input_signature=[any_size(features) for features in batches[0]])
    def train(source: Features, target: Features) -> tf.Tensor:
        loss, gradients = model.compute_gradients(source, target, optimizer)
        clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
        optimizer.apply_gradients(list(zip(clipped, model.trainable_weights)))
        return loss

    def step(number: int) -> float:
        return float(train(*batches[number]))

    run(work, step, version=f"OpenNMT-tf {opennmt.__version__}, TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
