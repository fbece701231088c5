import math

import numpy as np
import pytest
import tensorflow as tf

from input_pipeline.corpus import Pair
from nmt.interrupt import StopRequested
from nmt.judging.dev import DevSet, Look
from nmt.search.beam import Search
from nmt.search.translation import BATCH_SIZE, MOST_PLACES
from tests import small
from tests.nmt.search.test_translation import SOURCE, TARGET

PAIRS = [Pair("s1 s2 s3", "t1 t2"), Pair("s4", "t3 t4 t5 t1"), Pair("", "t1"), Pair("s1 x", "t2")]


def dev_set(trainer, pairs=PAIRS):
    return DevSet(trainer, (SOURCE, TARGET), pairs, search=Search(max_length=6), tokenized=True)


@pytest.mark.parametrize("strategy", ["parameter_server", "replicated"])
def test_the_loss_is_that_of_each_pair_by_itself_without_dropout_and_smoothing(strategy):
    trainer = small.trainer(strategy, 2, dropout=0.5, label_smoothing=0.3)
    plain = small.model()
    weights = [tf.identity(weight) for weight in trainer.weights]
    total = tokens = 0.0
    for pair in (PAIRS[0], PAIRS[1], PAIRS[3]):
        (batch,) = dev_set(trainer, [pair]).batches
        total += float(plain.loss_sum(weights, batch, tf.zeros([2], tf.int32)))
        tokens += len(pair.target.split()) + 1
    look = dev_set(trainer).look()
    assert look.loss == pytest.approx(total / tokens, rel=1e-5)
    assert look.perplexity == pytest.approx(np.exp(look.loss))
    assert len(look.evaluation.translations) == len(PAIRS)


def test_a_long_pair_does_not_make_a_batch_of_short_ones_as_long():
    pairs = [Pair("s1", "t1")] * 10 + [Pair("s2", "t2 " * MOST_PLACES)]
    sizes = [batch.target.shape for batch in dev_set(small.trainer(), pairs).batches]
    assert sizes == [(1, MOST_PLACES + 1), (10, 2)]


def test_it_judges_the_weights_as_they_are_now():
    trainer = small.trainer()
    dev = dev_set(trainer)
    before = dev.look().loss
    for _ in range(20):
        trainer.train_step((dev.batches[0],))
    assert dev.look().loss < before - 0.1


@pytest.mark.parametrize("allowed", [0, 1, 2, 3])
def test_it_can_be_broken_off_before_every_batch(allowed):
    left = [None] * allowed

    def safe_point():
        if not left:
            raise StopRequested
        left.pop()

    dev = dev_set(small.trainer(), PAIRS[:1] * (2 * BATCH_SIZE))
    with pytest.raises(StopRequested):
        dev.look(safe_point)


@pytest.mark.parametrize("loss", [1e6, float("inf"), float("nan")])
def test_a_hopeless_model_has_no_perplexity_of_300_digits(loss):
    assert Look(79.0, None).perplexity == pytest.approx(math.exp(79.0))
    assert Look(loss, None).perplexity == math.inf
