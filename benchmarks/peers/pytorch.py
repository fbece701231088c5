"""The model in plain PyTorch: nn.LSTM, CrossEntropyLoss, Adam, clip_grad_norm_."""

from __future__ import annotations

import time

import numpy as np
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pack_padded_sequence

from benchmarks.peers.work import BOS, Batch, Work, layer_weights, parse, run

WAYS = {"forward": "", "backward": "_reverse"}  # and how PyTorch calls them
LEFT_OUT = -100  # what CrossEntropyLoss leaves out


class Translation(nn.Module):
    """Bidirectional encoder layers, their states handed to as many decoder layers."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        (source_size, target_size), units = work.vocabulary_sizes, work.units
        self.source = nn.Embedding(source_size, units)
        self.target = nn.Embedding(target_size, units)
        self.encoder = nn.LSTM(units, units, work.layers // 2, bidirectional=True)
        self.decoder = nn.LSTM(units, units, work.layers)
        self.projection = nn.Linear(units, target_size, bias=False)
        self.packed = work.packed

    def forward(
        self, source: torch.Tensor, lengths: torch.Tensor, target: torch.Tensor
    ) -> torch.Tensor:
        """Logits of all target words; everything is time-major."""
        read = self.source(source)
        if self.packed:
            read = pack_padded_sequence(read, lengths, enforce_sorted=False)
        _, states = self.encoder(read)
        begin = torch.full_like(target[:1], BOS)
        outputs, _ = self.decoder(self.target(torch.cat([begin, target[:-1]])), states)
        return self.projection(outputs)

    @torch.no_grad()
    def begin_with(self, work: Work) -> None:
        """Takes the weights that everyone begins with."""
        tables = (self.source, self.target, self.projection)
        for table, name in zip(tables, ("source_embedding", "target_embedding", "projection")):
            given = torch.from_numpy(work.weights[name])
            table.weight.copy_(given.T if table is self.projection else given)
        for layer in range(work.layers // 2):
            for way in WAYS:
                set_layer(
                    self.encoder, layer, WAYS[way], layer_weights(work, "encoder", layer, way)
                )
        for layer in range(work.layers):
            set_layer(self.decoder, layer, "", layer_weights(work, "decoder", layer))


def set_layer(lstm: nn.LSTM, layer: int, way: str, weights: list[np.ndarray]) -> None:
    """One direction of one layer. Of PyTorch's two biases, which are added, one learns."""
    parts = {"weight_ih": weights[0].T, "weight_hh": weights[1].T, "bias_ih": weights[2]}
    for name, value in parts.items():
        getattr(lstm, f"{name}_l{layer}{way}").copy_(torch.from_numpy(value))
    getattr(lstm, f"bias_hh_l{layer}{way}").zero_().requires_grad_(False)


class Tensors:
    """One step's tensors, made beforehand: input is not what is measured."""

    def __init__(self, batch: Batch) -> None:
        source, lengths, target, target_lengths = (torch.from_numpy(part).long() for part in batch)
        self.inputs = source.T.contiguous(), lengths, target.T.contiguous()
        inside = torch.arange(target.shape[1])[:, None] < target_lengths
        self.labels = torch.where(inside, self.inputs[2], LEFT_OUT).flatten()


def matmul_flops_per_s(kind: torch.dtype, rounds: int = 10) -> float:
    """The best rate at which PyTorch multiplies large matrices here."""
    best = 0.0
    for size in (1024, 2048):
        left = torch.rand(size, size).to(kind)
        for _ in range(rounds):
            begun = time.perf_counter()
            left @ left
            best = max(best, 2 * size**3 / (time.perf_counter() - begun))
    return best


def main() -> None:
    """Trains and prints the speed."""
    work = parse()
    torch.set_num_threads(work.threads)
    model = Translation(work)
    model.begin_with(work)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=0.001)
    measure = nn.CrossEntropyLoss(ignore_index=LEFT_OUT)
    tensors = [Tensors(batch) for batch in work.batches]

    def step(number: int) -> float:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=work.bfloat16):
            logits = model(*tensors[number].inputs)
        loss = measure(logits.flatten(0, 1).float(), tensors[number].labels)
        loss.backward()
        clip_grad_norm_(learned, 5.0)
        optimizer.step()
        return float(loss.detach())

    kind = torch.bfloat16 if work.bfloat16 else torch.float32
    run(
        work,
        step,
        matmul_flops_per_second=matmul_flops_per_s(kind),
        compute_type=str(kind).removeprefix("torch."),
        version=f"PyTorch {torch.__version__}",
    )


if __name__ == "__main__":
    main()
