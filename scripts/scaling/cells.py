"""What is measured: one cell for each strategy, encoder and number of replicas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

STRATEGIES = ("parameter_server", "replicated", "independent")
ENCODERS = ("cudnn_lstm", "dynamic_rnn")
ONE_REPLICA = "one replica"


class BadRequest(ValueError):
    """The command line cannot be understood; the message says why and what to do."""


@dataclass(frozen=True)
class Cell:
    """One row of one table."""

    variable_update: str  # or ONE_REPLICA: the same global batch on a single replica
    encoder_type: str
    num_replicas: int

    def flags(self, batch_size: int) -> list[str]:
        """The flags of train.py that make this cell."""
        single = self.variable_update == ONE_REPLICA
        replicas, batch = (1, batch_size * self.num_replicas) if single else (None, batch_size)
        return [
            f"--variable_update={'replicated' if single else self.variable_update}",
            f"--encoder_type={self.encoder_type}",
            f"--num_replicas={replicas or self.num_replicas}",
            f"--batch_size={batch}",
        ]

    def __str__(self) -> str:
        return f"{self.variable_update} {self.encoder_type} x{self.num_replicas}"


def make_cells(
    replicas: Sequence[int], strategies: Sequence[str], encoders: Sequence[str]
) -> list[Cell]:
    """All cells in the order of a round; each count's single replica stands beside it."""
    columns = (ONE_REPLICA, *strategies)
    return [Cell(s, e, n) for e in encoders for n in replicas for s in columns]


def parse_counts(text: str) -> list[int]:
    """Reads "1..8", "1,2,4" or "2"."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    counts = range(int(found[1]), int(found[2]) + 1) if found else numbers(text)
    if not counts or min(counts) < 1:
        raise BadRequest(f"--replicas={text} cannot be used; write 1..8 or 1,2,4")
    return sorted(set(counts))


def numbers(text: str) -> list[int]:
    """Whole numbers separated by commas; none where something else stands there."""
    pieces = text.split(",")
    return [int(piece) for piece in pieces] if all(map(str.isdigit, pieces)) else []


def parse_names(flag: str, text: str, known: Sequence[str]) -> list[str]:
    """Reads "all" or names separated by commas."""
    names = list(known) if text == "all" else text.split(",")
    for name in names:
        if name not in known:
            raise BadRequest(f"--{flag}={text} cannot be used; give all or: {','.join(known)}")
    return names
