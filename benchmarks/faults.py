"""Breaks runs on purpose and looks what is lost: python -m benchmarks.faults --times=10

Every run is a process of its own with a small model on the built-in corpus, saved every few steps.
A run that was broken is started again with the same command until it has finished; then its
losses and its last checkpoint are compared with those of a run that nobody disturbed.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.command_line import Parser
from benchmarks.rounds import table
from benchmarks.small_runs import (
    NUM_STEPS,
    SLOWEST_START_S,
    Finished,
    checkpoints,
    finish,
    is_plan,
    losses_of,
    newest,
    start,
    state_of,
    steps_saved,
    tells_of,
    until,
)
from nmt.interrupt import INTERRUPTED

FREE: Final = "--nodeterministic"
STRATEGIES: dict[str, list[str]] = {
    "one replica": [],
    "parameter_server": ["--num_replicas=2", "--variable_update=parameter_server"],
    "replicated": ["--num_replicas=2", "--variable_update=replicated", "--gradient_repacking=2"],
    "replicated, relaxed": ["--num_replicas=2", "--variable_consistency=relaxed"],
    "independent": ["--num_replicas=2", "--variable_update=independent"],
}
STRATEGIES |= {f"{name}, not --deterministic": [*given, FREE] for name, given in STRATEGIES.items()}
CLOSE: Final = 1e-4  # how much losses of the next steps may differ there
NEXT_STEPS: Final = 20
LONGEST_WAIT_S: Final = 1.5  # before a run that would go on for long is asked to stop
STEPS_SPARED: Final = 20  # at the end, so that a run does not end before it is killed
KILL_WITHIN_S: Final = 0.05  # after such a step: steps and saves are about as long
ANY_MOMENT: Final = 0.5  # of kills come after some time, from the call to the last line
KILLED_AT_START: Final = 0.2  # of the others, where a run goes on, before their first step
SMALL_FILE_BYTES: Final = 50_000


def kill_at_random(
    directory: Path, flags: Sequence[str], seconds: float, draw: random.Random
) -> bool:
    """Starts training and kills it: at any moment of what takes so long, or after some step.

    False where the run has ended before: nothing was broken then.
    """
    process = start(directory, flags)
    if draw.random() < ANY_MOMENT:
        time.sleep(draw.uniform(0.0, seconds))
    else:
        wait_for_step(process, directory, draw)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if process.returncode not in (0, -signal.SIGKILL):
        sys.exit(f"a run ended with exit code {process.returncode} before it was killed")
    return process.returncode != 0


def wait_for_step(process: subprocess.Popen[str], directory: Path, draw: random.Random) -> None:
    """Waits until a run is in the middle of training, or about to begin with it."""
    early = bool(checkpoints(directory)) and draw.random() < KILLED_AT_START
    left = NUM_STEPS - steps_saved(directory)[-1]
    until(process, is_plan if early else tells_of(draw.randint(1, max(1, left - STEPS_SPARED))))
    time.sleep(draw.uniform(0.0, KILL_WITHIN_S))


def compare(whole: Finished, broken: Finished, step: int, *, exact: bool = True) -> str:
    """What is different, or nothing, where a broken run had to go on after a step."""
    tail = whole.losses[step:]
    if len(tail) != len(broken.losses):
        began = len(whole.losses) - len(broken.losses)
        return f"it went on after step {began}, not after step {step}"
    differences = [abs(a - b) for a, b in zip(tail, broken.losses)]
    worst = max(differences if exact else differences[:NEXT_STEPS], default=0.0)
    if worst > (0.0 if exact else CLOSE):
        return f"losses differ by up to {worst:.3g}"
    return "weights differ" if exact and whole.state != broken.state else ""


def kills(flags: Sequence[str], times: int, draw: random.Random) -> Iterator[str]:
    """Kills again and again, each time one to three times before the end is reached.

    A run that had saved nothing begins anew, which would show nothing: such kills do not count.
    """
    with tempfile.TemporaryDirectory() as place:
        whole = finish(Path(place), flags)
    done = 0
    while done < times:
        with tempfile.TemporaryDirectory() as place:
            in_a_row = min(draw.randint(1, 3), times - done)
            killed = [
                kill_at_random(Path(place), flags, whole.seconds, draw) for _ in range(in_a_row)
            ]
            step = steps_saved(Path(place))[-1]
            if not all(killed) or not step:
                continue  # it had ended, or there was nothing yet to go on from
            problem = compare(whole, finish(Path(place), flags), step, exact=FREE not in flags)
            done += in_a_row
            yield from [problem] * in_a_row


def signals(number: int, times: int, draw: random.Random) -> Iterator[str]:
    """Asks runs to stop; each must save what it has."""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            process = start(Path(place), ["--num_batches=100000"])
            until(process, tells_of(1))
            time.sleep(draw.uniform(0.0, LONGEST_WAIT_S))
            process.send_signal(number)
            said, _ = process.communicate(timeout=SLOWEST_START_S)
            ended = process.returncode == 0
            saved = ended and steps_saved(Path(place))[-1] == len(losses_of(Path(place)))
            yield "" if saved else f"exit {process.returncode}: {said}"


def second_signals(times: int, draw: random.Random) -> Iterator[str]:
    """Asks runs to stop and does not wait for it; what was saved before must be enough to go on."""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            process = start(Path(place), ["--num_batches=100000"])
            until(process, lambda line: line.startswith("saved "))
            process.send_signal(signal.SIGINT)
            time.sleep(draw.uniform(0.0, KILL_WITHIN_S))
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=SLOWEST_START_S)
            step = steps_saved(Path(place))[-1]
            after = finish(Path(place), [f"--num_batches={step + 5}"])
            left = (
                process.returncode in (0, INTERRUPTED, -signal.SIGINT) and "Traceback" not in said
            )
            yield "" if left and len(after.losses) == 5 else f"exit {process.returncode}: {said}"


CALM: Final = ["--optimizer=sgd", "--learning_rate=0.1"]
WILD: Final = [*CALM, "--learning_rate=1e38", "--max_gradient_norm=0"]


def divergences(times: int) -> Iterator[str]:
    """Lets a loss become infinite; with calmer flags a run must go on from before that."""
    with tempfile.TemporaryDirectory() as place:
        whole = finish(Path(place), CALM)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            finish(Path(place), [*CALM, "--num_batches=40"])
            process = start(Path(place), WILD)
            said, _ = process.communicate(timeout=SLOWEST_START_S)
            told = f"the last good checkpoint is {newest(Path(place))}" in said
            stopped = process.returncode == 1 and "the loss became" in said and told
            yield compare(whole, finish(Path(place), CALM), 40) if stopped else said


def flip_a_bit(path: Path, draw: random.Random) -> None:
    """Changes one bit of a file."""
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def cut_off(path: Path, draw: random.Random) -> None:
    """Leaves only the beginning of a file."""
    os.truncate(path, draw.randrange(path.stat().st_size))


Harm = Callable[[Path, random.Random], None]


def damages(harm: Harm, times: int, draw: random.Random) -> Iterator[str]:
    """Harms a file of the newest checkpoint; the run must go on from the one before, and say so."""
    with tempfile.TemporaryDirectory() as place:
        whole = finish(Path(place), [])
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            finish(Path(place), ["--num_batches=70"])
            damaged, step = newest(Path(place)), steps_saved(Path(place))[-2]
            harm(draw.choice(sorted(damaged.iterdir())), draw)
            after = finish(Path(place), [])
            told = f"{damaged} is damaged" in after.said
            yield compare(whole, after, step) or ("" if told else "nothing was said")


def no_large_files() -> None:
    """Lets every write beyond a size fail, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_FILE_BYTES, SMALL_FILE_BYTES))


def full_disks(times: int) -> Iterator[str]:
    """Lets saving fail; what was saved before must be there, and the run say what happened."""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            before = finish(Path(place), ["--num_batches=70"])
            process = start(Path(place), [], preexec_fn=no_large_files)
            said, _ = process.communicate(timeout=SLOWEST_START_S)
            kept = state_of(newest(Path(place))) == before.state
            told = "was not saved" in said and "the last good one is" in said
            yield "" if process.returncode == 1 and kept and told else said


def second_runs(times: int) -> Iterator[str]:
    """Starts a run where another one is at work."""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            first = start(Path(place), ["--num_batches=100000"])
            until(first, tells_of(1))
            second = start(Path(place), [])
            said, _ = second.communicate(timeout=SLOWEST_START_S)
            first.terminate()
            first.communicate(timeout=SLOWEST_START_S)
            refused = second.returncode == 2 and f"in use by process {first.pid}" in said
            yield "" if refused and first.returncode == 0 else said


def other_models(times: int) -> Iterator[str]:
    """Starts a run of another model where there are checkpoints."""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            before = finish(Path(place), ["--num_batches=70"])
            process = start(Path(place), ["--num_units=48"])
            said, _ = process.communicate(timeout=SLOWEST_START_S)
            kept = state_of(newest(Path(place))) == before.state
            refused = process.returncode == 2 and "was trained with --num_units=32" in said
            yield "" if refused and kept else said


def lost_directories(times: int) -> Iterator[str]:
    """Moves a run's directory away and leaves a file there, so that nothing can be saved."""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            process = start(Path(place), ["--num_batches=100000"])
            until(process, lambda line: line.startswith("saved "))
            out, saved = Path(place) / "out", Path(place) / "saved"
            out.rename(saved)
            out.write_text("")
            until(process, tells_of(30))  # of which nothing is saved
            process.send_signal(signal.SIGTERM)
            said, _ = process.communicate(timeout=SLOWEST_START_S)
            whole = all((path / "manifest.json").exists() for path in saved.glob("step-*"))
            told = "was not saved" in said
            yield "" if process.returncode == 1 and whole and told else said


def moved_directories(times: int) -> Iterator[str]:
    """Moves a run's directory away; what is saved then must be enough to go on from."""
    with tempfile.TemporaryDirectory() as place:
        whole = finish(Path(place), [])
    for _ in range(times):
        with tempfile.TemporaryDirectory() as place:
            process = start(Path(place), ["--num_batches=100000"])
            until(process, lambda line: line.startswith("saved "))
            (Path(place) / "out").rename(Path(place) / "moved")
            until(process, lambda line: line.startswith("saved "))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            step = steps_saved(Path(place))[-1]
            yield compare(whole, finish(Path(place), []), step) if step else "nothing was saved"


def faults(times: int, draw: random.Random) -> dict[str, Iterator[str]]:
    """All that is broken, by its name."""
    found = {f"kill -9, {name}": kills(flags, times, draw) for name, flags in STRATEGIES.items()}
    return found | {
        "SIGTERM": signals(signal.SIGTERM, times, draw),
        "SIGINT": signals(signal.SIGINT, times, draw),
        "SIGINT twice": second_signals(times, draw),
        "a loss that is no number": divergences(times),
        "one bit of the newest checkpoint changed": damages(flip_a_bit, times, draw),
        "a file of the newest checkpoint cut off": damages(cut_off, times, draw),
        "disk full while saving": full_disks(times),
        "a directory that cannot be written to any more": lost_directories(times),
        "a directory moved away": moved_directories(times),
        "a second run in the same directory": second_runs(times),
        "another model in the same directory": other_models(times),
    }


def main(argv: Sequence[str]) -> int:
    """Breaks everything in turn and prints the table; 1 where something was lost."""
    parser = Parser("python -m benchmarks.faults", __doc__)
    parser.add_count("times", 10, "how often everything is broken")
    parser.add_count("seed", 1, "of the moments at which it is", at_least=0)
    parser.add_argument("--only", default="", help="faults with this in their name")
    given = parser.parse_args(argv)
    every = faults(given.times, random.Random(given.seed))
    rows, lost = [], 0
    for name in parser.named(given.only, every):
        problems = []
        for problem in every[name]:
            problems.append(problem)
            print(f"{name}: {problem or 'nothing lost'}", flush=True)
        bad = [problem for problem in problems if problem]
        lost += len(bad)
        rows.append(
            [name, str(len(problems)), bad[0].strip().splitlines()[-1] if bad else "nothing"]
        )
    print("\n" + table(["What was broken", "Times", "What was lost"], rows))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
