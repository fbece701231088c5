"""However the work is spread, the same model is trained."""

import functools
import itertools
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from nmt.config import ENCODER_TYPES, OPTIMIZERS, VARIABLE_UPDATES, OptimizerConfig
from nmt.network.attention import SCORES
from nmt.network.weights import backward_order
from nmt.types import Batch
from tests import small
from variable_update.exchange import make_exchange
from variable_update.packing import Packing
from variable_update.strategies import STRATEGIES

SYNCHRONOUS = [name for name, strategy in STRATEGIES.items() if strategy.synchronous]
NUM_STEPS = 5
ON_HOST = "on the host"
SPECS = ["", "xring", "xring#2", "rechd", "psgpu#3", "hierarchical_copy", "pscpu:128:xring"]
ONE_LAYER = {"num_encoder_layers": 1, "num_decoder_layers": 1}
ORDER = tuple(backward_order(small.model(**ONE_LAYER).specs))
PACKINGS = [
    Packing(),
    Packing(num_packs=4, order=ORDER),
    Packing(small_bytes=256, small_group=3, order=ORDER),
]


# Plain gradient descent shows a wrong scale of the gradients; the others would hide it.
CONFIGS = {
    "sgd": OptimizerConfig(optimizer="sgd", learning_rate=0.5, max_gradient_norm=0.0),
    "sgd clipped": OptimizerConfig(optimizer="sgd", learning_rate=0.5, max_gradient_norm=0.1),
    "adam": OptimizerConfig(optimizer="adam", learning_rate=0.01),
    "adamw": OptimizerConfig(optimizer="adamw", learning_rate=0.01, weight_decay=0.1),
}


# Where a weight is near 0. Adam divides by the gradient's size, so that the last bits of a gradient
# that is nearly 0 move a weight by up to the learning rate.
ATOL = {"sgd": 1e-6, "sgd clipped": 1e-6, "adam": 1e-5, "adamw": 1e-5}


def uneven_batch(num_replicas, seed):
    rng = np.random.default_rng(seed)
    rows = 2 * num_replicas
    return small.batch(rng.integers(1, 9, rows), rng.integers(1, 9, rows), seed)


def cut(batch, num_replicas):
    parts = [tf.split(part, num_replicas) for part in batch]
    return tuple(Batch(*slices) for slices in zip(*parts))


def train(trainer, num_slices, num_batches_of):
    for seed in range(NUM_STEPS):
        trainer.train_step(cut(uneven_batch(num_batches_of, seed), num_slices))
        if trainer.strategy.synchronous:
            copies_are_equal(trainer.strategy.copies)
    return small.values(trainer)


def copies_are_equal(copies):
    """To the bit, optimizer slots included."""
    first, *others = ([value.numpy() for value in copy.state()] for copy in copies)
    for other in others:
        for one, two in zip(first, other):
            np.testing.assert_array_equal(one, two)


@functools.cache
def on_one_device(num_batches_of, encoder_type, name):
    options = {"encoder_type": encoder_type, "optimizer": CONFIGS[name]}
    return train(small.trainer("parameter_server", 1, **options, **ONE_LAYER), 1, num_batches_of)


def test_every_optimizer_is_compared():
    assert {config.optimizer for config in CONFIGS.values()} == set(OPTIMIZERS)


def test_the_flag_and_the_table_name_the_same_strategies():
    assert tuple(STRATEGIES) == VARIABLE_UPDATES


class Case(NamedTuple):
    """One way to train what one device trains."""

    num_replicas: int
    strategy: str
    spec: str
    packing: Packing
    encoder_type: str
    optimizer: str
    sparse: bool

    def devices(self):
        """A server's variables are spread over the replicas' devices, or on the host."""
        count = 1 if self.spec == ON_HOST else self.num_replicas
        return [f"CPU:{index}" for index in range(count)]


def all_cases():
    """Every strategy, way, packing, encoder, optimizer, rows or not; the server has no ways."""
    ways = [("replicated", spec, packing) for spec in SPECS for packing in PACKINGS]
    ways += [("parameter_server", spec, PACKINGS[0]) for spec in ("", ON_HOST)]
    others = itertools.product(ENCODER_TYPES, CONFIGS, (False, True))
    for count, way, other in itertools.product((2, 3, 8), ways, list(others)):
        yield Case(count, *way, *other)


def covering(cases):
    """Few of the cases, in which every two values that meet in any case still meet."""

    def meetings(case):
        return set(itertools.combinations(enumerate(case), 2))

    left = list(cases)
    missing = set().union(*map(meetings, left))
    chosen = []
    while missing:
        best = max(left, key=lambda case: len(meetings(case) & missing))
        chosen.append(best)
        missing -= meetings(best)
    return chosen


FEW = covering(all_cases())
OTHERS = [case for case in all_cases() if case not in FEW]


def check(case):
    options = {"encoder_type": case.encoder_type, "optimizer": CONFIGS[case.optimizer]}
    if case.strategy == "replicated":
        options["exchange"] = make_exchange(case.spec, case.packing, gpu=False)
    options |= {"servers": case.devices(), "rows": small.ROWS if case.sparse else {}}
    many = small.trainer(case.strategy, case.num_replicas, **options, **ONE_LAYER)
    actual = train(many, case.num_replicas, case.num_replicas)
    expected = on_one_device(case.num_replicas, case.encoder_type, case.optimizer)
    for one, other in zip(expected, actual):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=ATOL[case.optimizer])


@pytest.mark.parametrize("case", FEW, ids=str)
def test_replicas_train_what_one_device_trains_and_copies_are_equal_to_the_bit(case):
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_so_does_every_other_combination(case):
    check(case)


def test_the_few_cases_have_everything_in_them():
    assert {case.strategy for case in FEW} == set(SYNCHRONOUS)
    assert {case.optimizer for case in FEW} == set(CONFIGS)
    assert len(FEW) < len(OTHERS) / 5


@pytest.mark.parametrize(
    ("encoder_type", "attention"),
    [("dynamic_rnn", "none"), ("cudnn_lstm", "luong"), ("dynamic_rnn", "normed_bahdanau")],
)
def test_independent_replicas_each_train_on_their_own_slice(encoder_type, attention):
    how = {"encoder_type": encoder_type, "attention": attention}
    many = small.trainer("independent", 2, **how)
    alone = [small.trainer("replicated", 1, **how) for _ in range(2)]
    for seed in range(NUM_STEPS):
        slices = cut(uneven_batch(2, seed), 2)
        many.train_step(slices)
        for trainer, batch in zip(alone, slices):
            trainer.train_step((batch,))
    for copy, trainer in enumerate(alone):
        for one, other in zip(small.values(trainer), small.values(many, copy)):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    assert np.any(small.values(many, 0)[0] != small.values(many, 1)[0])


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
def test_with_one_replica_all_strategies_are_the_same(strategy):
    expected = train(small.trainer("parameter_server"), 1, 2)
    for one, other in zip(expected, train(small.trainer(strategy), 1, 2)):
        np.testing.assert_array_equal(one, other)


def test_the_parameter_server_holds_one_copy():
    assert len(small.trainer("parameter_server", 3).strategy.copies) == 1
    assert len(small.trainer("replicated", 3).strategy.copies) == 3


def test_a_replica_without_words_changes_nothing():
    """Its rows only fill up the batch: what one device gets without them is trained."""
    some, none = small.batch([3, 5], [4, 2]), small.batch([1, 1], [0, 0])
    for strategy in SYNCHRONOUS:
        two, one = small.trainer(strategy, 2), small.trainer(strategy, 1)
        two.train_step((some, none))
        one.train_step((some,))
        for expected, actual in zip(small.values(one), small.values(two)):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [{}, small.ROWS])
@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
@pytest.mark.parametrize(("spec", "count"), [("", 2), ("xring", 3), ("rechd", 8), ("psgpu#2", 8)])
def test_gradients_in_16_bits_stay_near_and_copies_equal(spec, count, encoder_type, rows):
    exchange = make_exchange(spec, PACKINGS[1], gpu=False, compact=True)
    how = {"exchange": exchange, "rows": rows, "encoder_type": encoder_type}
    many = small.trainer("replicated", count, CONFIGS["sgd"], **how, **ONE_LAYER)
    start = small.values(many)
    actual = train(many, count, count)
    for before, one, other in zip(start, on_one_device(count, encoder_type, "sgd"), actual):
        # bfloat16 keeps 8 bits: each of N roundings and N - 1 additions errs by 1/256 at most, but
        # not all to the same side: half of that is allowed.
        bound = count / 256 * np.abs(one - before).max() + 1e-5
        assert np.abs(one - other).max() < NUM_STEPS * bound


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_relaxed_updates_of_adam_begin_with_the_first_gradients(name):
    """The step without gradients is none: neither counted nor a reason for weights to decay."""
    batches = [cut(uneven_batch(2, seed), 2) for seed in range(2)]
    late, on_time = (
        small.trainer("replicated", 2, CONFIGS[name], relaxed=relaxed) for relaxed in (True, False)
    )
    for batch in batches:
        late.train_step(batch)
    on_time.train_step(batches[0])
    for one, other in zip(on_time.strategy.copies[1].state(), late.strategy.copies[1].state()):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-7)


def late_ways():
    """Replicas, encoder, exchange: plain, packed, by halves."""
    yield 2, "dynamic_rnn", make_exchange("", gpu=False)
    yield 3, "cudnn_lstm", make_exchange("xring", PACKINGS[1], gpu=False)
    yield 8, "cudnn_lstm", make_exchange("rechd", gpu=False)


@pytest.mark.parametrize(("count", "encoder_type", "exchange"), list(late_ways()))
def test_relaxed_updates_are_exactly_one_step_late(count, encoder_type, exchange):
    how = {"encoder_type": encoder_type, "exchange": exchange, **ONE_LAYER}
    batches = [cut(uneven_batch(count, seed), count) for seed in range(3)]
    late = small.trainer("replicated", count, relaxed=True, **how)
    start = small.values(late)
    late.train_step(batches[0])
    for one, other in zip(start, small.values(late)):
        np.testing.assert_array_equal(one, other)
    late.train_step(batches[1])
    copies_are_equal(late.strategy.copies)
    on_time = small.trainer("replicated", count, **how)
    on_time.train_step(batches[0])
    for one, other in zip(small.values(on_time), small.values(late)):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-7)
    # The second batch's gradients were taken at the starting weights, where the first left them.
    late.train_step(batches[2])
    copies_are_equal(late.strategy.copies)
    again = small.trainer("replicated", count, **how)
    again.train_step(batches[1])
    for first, mine, before, after in zip(
        small.values(on_time), small.values(late), start, small.values(again)
    ):
        np.testing.assert_allclose(mine - first, after - before, rtol=1e-4, atol=1e-6)


def test_late_gradients_may_travel_in_16_bits():
    exchange = make_exchange("rechd", gpu=False, compact=True)
    how = {"encoder_type": "cudnn_lstm", "exchange": exchange, **ONE_LAYER}
    late, on_time = (small.trainer("replicated", 8, relaxed=r, **how) for r in (True, False))
    start, batches = small.values(late), [cut(uneven_batch(8, seed), 8) for seed in range(2)]
    for batch in batches:
        late.train_step(batch)
    on_time.train_step(batches[0])
    copies_are_equal(late.strategy.copies)
    for before, one, other in zip(start, small.values(on_time), small.values(late)):
        # A gradient that differs in its last bit may be rounded to the next number, 1/128 away.
        change = np.abs(one - before).max()
        assert change > 0.0
        assert np.abs(one - other).max() <= change / 128


RICH = {
    "residual": True,
    "tied_embeddings": True,
    "embedding_dim": 8,
    "label_smoothing": 0.1,
}


# Every kind of attention with both strategies and both encoder types, but not with all pairs.
SPREAD = [
    (attention, encoder_type, SYNCHRONOUS[(kind + number) % 2])
    for kind, attention in enumerate(SCORES)
    for number, encoder_type in enumerate(ENCODER_TYPES)
]


@pytest.mark.parametrize(("attention", "encoder_type", "strategy"), SPREAD)
def test_a_model_with_everything_is_the_same_however_the_work_is_spread(
    attention, encoder_type, strategy
):
    options = {"encoder_type": encoder_type, "attention": attention, **RICH}
    options["optimizer"] = CONFIGS["sgd clipped"]
    expected = train(small.trainer("parameter_server", 1, **options), 1, 3)
    actual = train(small.trainer(strategy, 3, **options), 3, 3)
    for one, other in zip(expected, actual):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)
