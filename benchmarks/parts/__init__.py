"""Parts of a training step, each in several ways; the first way is the one that was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.parts import loss, matmuls, stacks, updates
from benchmarks.parts.common import Sizes, Work

PARTS: Final[Mapping[str, Callable[[Sizes], dict[str, Work]]]] = {
    "two layers of one direction": stacks.layers_of(1),
    "two layers of two directions": stacks.layers_of(2),
    "both directions of a layer": stacks.both_directions,
    "gates of a step": stacks.gates,
    **{name: matmuls.ways_of(kind) for name, kind in matmuls.LARGE.items()},
    "recurrent matmul of a step": matmuls.recurrent_step,
    "a layer's weights, transposed": matmuls.transposed_weights,
    "matmuls of four layers": matmuls.decoder_stack,
    "a layer's weight gradient": matmuls.weight_gradients,
    "projection, loss and their gradients": loss.projection_and_loss,
    "loss and its gradient": loss.loss_and_gradient,
    "update": updates.adam,
    "update of an embedding": updates.embedding,
}
