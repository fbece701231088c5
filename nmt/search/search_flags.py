"""What programs that translate have in common: flags of the search, and the model they name."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.config import LENGTH_FACTOR, MAX_LENGTH, SPARE_WORDS, option
from nmt.errors import UserError
from nmt.paths import unusable_name

if TYPE_CHECKING:  # these import TensorFlow, which help and mistakes do not wait for
    from nmt.search.translation import Translator


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Model and search."""

    model: str = option(
        "", "the --output_dir of the run that trained it, or one of the checkpoints in it"
    )
    average_checkpoints: int = option(
        1,
        "average the weights of this many of the newest checkpoints; 1: use the best one",
        at_least=1,
    )
    beam_width: int = option(
        1, "beam size: translations kept at each step; 1 is greedy", at_least=1, at_most=1000
    )
    length_penalty: float = option(
        0.6, "how much longer translations are preferred (GNMT's alpha)", at_least=0
    )
    coverage_penalty: float = option(
        0.0,
        "penalty for source words that attention skipped (GNMT's beta)",
        at_least=0,
    )
    max_length: int = option(
        0,
        "words of the longest translation; 0: --tgt_max_len of the training, but at least "
        f"{LENGTH_FACTOR} times the source's words and at most {SPARE_WORDS} more than that",
        at_least=0,
        at_most=MAX_LENGTH,
    )
    batch_size: int = option(64, "sentences translated together", at_least=1)


DEFAULTS = SearchConfig()


def find_problems(config: SearchConfig) -> list[str]:
    """Why there is no model to translate with."""
    if not config.model:
        return ["--model is missing; name the --output_dir of a training run"]
    if not Path(config.model).is_dir():
        return [f"--model={config.model} is no directory; name a run's --output_dir"]
    if why := unusable_name(config.model):
        return [f"--model={config.model} {why}; move it, or name it by a link to it"]
    return []


def load_translator(config: SearchConfig, kind: str = "") -> Translator:
    """The model with its vocabularies, ready to translate as the flags say.

    It is computed on a GPU where there is one, unless `kind` says otherwise.
    """
    from nmt.search.beam import Search, long_enough
    from nmt.search.translation import Translator
    from nmt.storage import model_dir

    trained = model_dir.load(Path(config.model), config.average_checkpoints, kind)
    if config.coverage_penalty and trained.model.score is None:
        raise UserError(
            f"--coverage_penalty={config.coverage_penalty} needs a model with attention; "
            f"{config.model} was trained without; leave it out"
        )
    if config.average_checkpoints == 1:
        if warning := model_dir.not_looked_at(Path(config.model), trained.checkpoints[0]):
            print(warning, file=sys.stderr)
    trained_length = trained.config.data.tgt_max_len
    limit = Search(max_length=config.max_length)
    search = (limit if config.max_length else long_enough(trained_length))._replace(
        width=config.beam_width,
        length_penalty=config.length_penalty,
        coverage_penalty=config.coverage_penalty,
    )
    return Translator(
        trained.model,
        trained.weights,
        *trained.vocabularies,
        search,
        config.batch_size,
        ", ".join(path.name for path in trained.checkpoints),
    )
