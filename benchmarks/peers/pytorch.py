"""The model in plain PyTorch: nn.LSTM, CrossEntropyLoss, Adam, clip_grad_norm_."""

from __future__ import annotations

import time

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pack_padded_sequence

from benchmarks.peers.work import BOS, Batch, Work, parse, run

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


class Tensors:
    """One step's tensors, made beforehand: input is not what is measured."""

    def __init__(self, batch: Batch) -> None:
        source, lengths, target, target_lengths = (torch.from_numpy(part).long() for part in batch)
        self.inputs = source.T.contiguous(), lengths, target.T.contiguous()
        inside = torch.arange(target.shape[1])[:, None] < target_lengths
        self.labels = torch.where(inside, self.inputs[2], LEFT_OUT).flatten()


def matmul_flops_per_s(kind: torch.dtype, size: int = 1024, rounds: int = 20) -> float:
    """The best rate at which PyTorch multiplies large matrices here."""
    left, best = torch.rand(size, size).to(kind), float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        left @ left
        best = min(best, time.perf_counter() - begun)
    return float(2 * size**3 / best)


def main() -> None:
    """Trains and prints the speed."""
    work = parse()
    torch.set_num_threads(work.threads)
    torch.manual_seed(1)
    model = Translation(work)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    measure = nn.CrossEntropyLoss(ignore_index=LEFT_OUT)
    tensors = [Tensors(batch) for batch in work.batches]

    def step(number: int) -> float:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=work.bfloat16):
            logits = model(*tensors[number].inputs)
        loss = measure(logits.flatten(0, 1).float(), tensors[number].labels)
        loss.backward()
        clip_grad_norm_(model.parameters(), 5.0)
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
