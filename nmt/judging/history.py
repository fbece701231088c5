"""How a model has done on the dev set so far: which was best, and whether it still gets better."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from nmt import strict_json


class Score(NamedTuple):
    """One look at the dev set."""

    step: int
    train_loss: float  # per target token, since the look before
    loss: float  # per target token of the dev set, without dropout and smoothing
    perplexity: float
    bleu: float
    chrf: float
    signature: str = ""  # sacreBLEU's, of the one and the other
    chrf_signature: str = ""
    pairs: str = ""  # a short name for what it was judged by


TEXTS: Final = ("signature", "chrf_signature", "pairs")


@dataclass
class History:
    """All looks, oldest first; it is saved with the model."""

    scores: list[Score] = field(default_factory=list)

    @property
    def best(self) -> Score | None:
        """The highest BLEU; of equal ones the lowest loss, then the first.

        One whose loss is no number comes after all others.
        """
        return self.best_of(lambda _: True)

    def best_of(self, counts: Callable[[Score], bool]) -> Score | None:
        """The best of those that count."""
        ranked = filter(counts, self.scores)
        return min(ranked, key=rank, default=None)

    @property
    def looks_since_best(self) -> int:
        """How often it has not got better."""
        best = self.best
        return len(self.scores) - 1 - self.scores.index(best) if best else 0

    def of(self, pairs: str) -> History:
        """The looks at these pairs, and older ones that do not say what they were judged by."""
        return History([score for score in self.scores if score.pairs in ("", pairs)])

    def add(self, score: Score) -> bool:
        """Takes in a look; True where it is the best."""
        self.scores.append(score)
        return self.best is score

    def has_stalled(self, patience: int) -> bool:
        """Whether it has not got better for too long; 0: it is waited for ever."""
        return bool(patience) and self.looks_since_best >= patience


def rank(score: Score) -> tuple[bool, float, float]:
    """The better a look, the lower."""
    return not math.isfinite(score.loss), -score.bleu, score.loss


def to_json(facts: dict[str, Any], history: History) -> bytes:
    """What is saved, as numbers and text."""
    scores = [score._asdict() for score in history.scores]
    return strict_json.dumps({**facts, "evaluations": scores}, indent=1).encode()


def from_json(data: bytes) -> History:
    """The opposite; only numbers and text are taken."""
    return History([to_score(entry) for entry in json.loads(data)["evaluations"]])


def to_score(entry: dict[str, Any]) -> Score:
    """One look; texts may be missing."""
    numbers = (name for name in Score._fields[1:] if name not in TEXTS)
    found: dict[str, Any] = {name: to_number(entry[name]) for name in numbers}
    found |= {name: str(entry.get(name, "")) for name in TEXTS}
    return Score(step=int(entry["step"]), **found)


def to_number(value: Any) -> float:
    """A number, also one that JSON has none for."""
    return math.nan if value is None else float(value)
