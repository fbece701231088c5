"""Translates standard input line by line: python -m nmt.translate --model=DIR < in.en > out.de"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from nmt import environment, flags
from nmt.config import option
from nmt.errors import UserError

DONE, REFUSED, INTERRUPTED = 0, 2, 130
# So many lines are sorted by length together. What is there sooner is not kept waiting.
LINES_AT_ONCE = 2048
END = None


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Translation."""

    model: str = option("", "the --output_dir of the run that trained it")
    beam_width: int = option(1, "translations that grow side by side; 1 is greedy", at_least=1)
    length_penalty: float = option(
        0.6, "how much longer translations are preferred (GNMT's alpha)", at_least=0
    )
    coverage_penalty: float = option(
        0.0,
        "price of source words that nobody looked at (GNMT's beta); needs attention",
        at_least=0,
    )
    max_length: int = option(
        0, "words of the longest translation; 0: --tgt_max_len of the training", at_least=0
    )
    n_best: int = option(
        1, "translations of each line, as: line number, score, text, with tabs between", at_least=1
    )
    batch_size: int = option(64, "sentences translated together", at_least=1)


@dataclass(frozen=True, kw_only=True)
class TranslateConfig:
    """All of it."""

    translation: SearchConfig = SearchConfig()


PROGRAM = flags.Program(
    "nmt.translate", "translates standard input, a sentence a line", TranslateConfig
)


def find_problems(config: SearchConfig) -> list[str]:
    """All reasons it cannot run."""
    problems = []
    if not config.model:
        problems.append("--model is missing; name the --output_dir of a training run")
    elif not Path(config.model).is_dir():
        problems.append(f"--model={config.model} is no directory; name a run's --output_dir")
    if config.n_best > config.beam_width:
        problems.append(
            f"--n_best={config.n_best} is more than --beam_width={config.beam_width}; give a wider"
            " beam"
        )
    return problems


def blocks(lines: TextIO) -> Iterator[list[str]]:
    """What has been read so far, again and again: a line of a slow pipe, many of a file."""
    arrived: queue.Queue[Any] = queue.Queue(maxsize=4 * LINES_AT_ONCE)

    def read() -> None:
        try:
            for line in lines:
                arrived.put(line.rstrip("\n"))
        except BaseException as error:  # the main thread raises it
            arrived.put(error)
        arrived.put(END)

    threading.Thread(target=read, daemon=True).start()
    while True:
        block, ended = waiting(arrived)
        if block:
            yield block
        if ended:
            return


def waiting(arrived: queue.Queue[Any]) -> tuple[list[str], bool]:
    """The lines that are there, at least one of them or the end."""
    block: list[str] = []
    while len(block) < LINES_AT_ONCE:
        try:
            item = arrived.get(block=not block)
        except queue.Empty:
            break
        if isinstance(item, BaseException):
            raise item
        if item is END:
            return block, True
        block.append(item)
    return block, False


def run(config: SearchConfig, lines: TextIO, out: TextIO) -> None:
    """Translates everything that comes in."""
    from tqdm import tqdm

    from nmt import model_dir
    from nmt.beam import Search
    from nmt.translation import Translator

    trained = model_dir.load(Path(config.model))
    longest = config.max_length or trained.config.data.tgt_max_len
    search = Search(config.beam_width, longest, config.length_penalty, config.coverage_penalty)
    if config.coverage_penalty and trained.model.score is None:
        raise UserError(
            f"--coverage_penalty={config.coverage_penalty} needs a model with attention, which "
            f"{config.model} is not; leave it out"
        )
    translator = Translator(
        trained.model, trained.weights, *trained.vocabularies, search, config.batch_size
    )
    done = 0
    with tqdm(unit=" lines", disable=None, file=sys.stderr) as bar:
        for block in blocks(lines):
            for number, found in enumerate(translator.n_best(block), done):
                write(out, number, found[: config.n_best], several=config.n_best > 1)
            out.flush()
            done += len(block)
            bar.update(len(block))


def write(out: TextIO, number: int, found: Sequence[Any], *, several: bool) -> None:
    """One line for a sentence, or one for each of its translations."""
    for one in found:
        out.write(f"{number + 1}\t{one.score:.4f}\t{one.text}\n" if several else f"{one.text}\n")


def main(argv: Sequence[str]) -> int:
    """Translates; gives the exit code."""
    try:
        config, problems = PROGRAM.parse(argv)
        problems += find_problems(config.translation)
        if problems:
            return say(problems)
        environment.prepare(verbosity=0)
        with open(0, encoding="utf-8", newline="\n", closefd=False) as lines:
            run(config.translation, lines, sys.stdout)
    except flags.HelpRequested as request:
        print(request)
    except UserError as error:
        return say([str(error)])
    except UnicodeDecodeError as error:
        return say([f"standard input is not UTF-8 text: {error.reason}; convert it"])
    except BrokenPipeError:
        sys.stderr.close()  # nobody listens any more
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


def say(problems: Sequence[str]) -> int:
    """Prints one line each; gives the exit code of a mistake."""
    print("\n".join(f"{PROGRAM.name}: {problem}" for problem in problems), file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    environment.use_huge_pages()
    sys.exit(main(sys.argv[1:]))
