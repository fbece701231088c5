import itertools

import numpy as np
import pytest
import tensorflow as tf

from input_pipeline.vocabulary import EOS
from nmt.config import ATTENTIONS, OptimizerConfig
from nmt.search.beam import (
    Beam,
    Hypotheses,
    Search,
    covered,
    long_enough,
    penalized,
    top_entries,
)
from nmt.search.beam_search import Running, beam_search, put
from nmt.types import BATCH_SPEC
from tests import small
from tests.greedy import greedy

SEED = tf.constant([1, 2])
every_attention = pytest.mark.parametrize("attention", ATTENTIONS)


def make(attention="none", seed=11):
    model = small.model(direction="bi", encoder_type="cudnn_lstm", attention=attention)
    return model, small.weights(model, seed), small.batch([5, 1, 3], [2, 6, 4])


def forced_pass(model, flat, batch):
    """Gives the log-probability of one translation of one row, by the training graph."""

    @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
    def loss_sum(one):
        return model.loss_sum(flat, one, SEED)

    def forced(row, ids):
        one = batch._replace(
            source=batch.source[row : row + 1],
            source_lengths=batch.source_lengths[row : row + 1],
            target=tf.constant([ids]),
            target_lengths=tf.constant([len(ids)]),
        )
        return -float(loss_sum(one))

    return forced


def up_to_end(ids):
    ids = list(ids)
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


@every_attention
def test_a_beam_of_one_is_greedy(attention):
    model, flat, batch = make(attention)
    for penalties in ((0.0, 0.0), (1.0, 0.2)):
        found = beam_search(model, flat, batch, Search(1, 8, *penalties))
        np.testing.assert_array_equal(found.ids[:, 0], greedy(model, flat, batch, 8))


@every_attention
def test_scores_are_those_of_a_forced_pass(attention):
    model, flat, batch = make(attention)
    found = beam_search(model, flat, batch, Search(width=4, max_length=7))
    forced = forced_pass(model, flat, batch)
    for row, hypothesis in itertools.product(range(3), range(4)):
        ids = up_to_end(found.ids[row, hypothesis].numpy())
        expected = forced(row, ids)
        assert float(found.log_probabilities[row, hypothesis]) == pytest.approx(expected, rel=1e-4)


def test_a_wide_beam_finds_the_best_of_all_translations():
    model, flat, batch = make()
    words = small.SIZES.target
    every = [(EOS,)] + [(first, EOS) for first in range(words) if first != EOS]
    every += [pair for pair in itertools.product(range(words), repeat=2) if EOS not in pair]
    found = beam_search(model, flat, batch, Search(width=words, max_length=2))
    forced = forced_pass(model, flat, batch)
    for row in range(3):
        scores = {ids: forced(row, list(ids)) for ids in every}
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:3]
        actual = [tuple(up_to_end(ids)) for ids in found.ids[row, :3].numpy()]
        assert actual == best


def test_hypotheses_differ_and_come_in_the_order_of_their_scores():
    model, flat, batch = make("luong")
    found = beam_search(model, flat, batch, Search(5, 6, 0.6, 0.2))
    for row in range(3):
        assert len({tuple(up_to_end(ids)) for ids in found.ids[row].numpy()}) == 5
        assert (np.diff(found.scores[row]) <= 0).all()


def test_the_length_penalty_divides():
    model, flat, batch = make()
    found = beam_search(model, flat, batch, Search(3, 6, length_penalty=0.7))
    for row, ids in enumerate(found.ids[:, 0].numpy()):
        divisor = ((5 + len(up_to_end(ids))) / 6) ** 0.7
        expected = float(found.log_probabilities[row, 0]) / divisor
        assert float(found.scores[row, 0]) == pytest.approx(expected, rel=1e-5)


def test_source_words_that_nobody_looked_at_cost_something():
    model, flat, batch = make("luong")
    plain, covered = (
        beam_search(model, flat, batch, Search(3, 2, coverage_penalty=penalty))
        for penalty in (0.0, 0.3)
    )
    np.testing.assert_array_equal(plain.scores, plain.log_probabilities)
    lost = (covered.log_probabilities - covered.scores).numpy()
    # Two words look at one source word twice, but at five only in part.
    np.testing.assert_allclose(lost[1], np.zeros(3), atol=1e-6)
    assert (lost[0] > 0.1).all()


def test_other_sentences_of_the_batch_change_nothing():
    model, flat, batch = make("bahdanau")
    search = Search(3, 6, 0.6, 0.1)
    together = beam_search(model, flat, batch, search)
    alone = beam_search(
        model,
        flat,
        batch._replace(**{name: getattr(batch, name)[2:] for name in batch._fields}),
        search,
    )
    for one, other in zip(together.ids[2].numpy(), alone.ids[0].numpy()):
        assert up_to_end(one) == up_to_end(other)
    np.testing.assert_allclose(together.scores[2], alone.scores[0], rtol=1e-4)


@pytest.mark.parametrize("width", [1, 3])
def test_long_sources_have_longer_translations_and_short_ones_do_not(width):
    """Each as by itself with a limit of its own; this model ends few translations."""
    model, flat, batch = make("luong")
    together = beam_search(model, flat, batch, long_enough(3)._replace(width=width))
    assert together.ids.shape[2] == 10
    for row, limit in enumerate((10, 3, 6)):
        alone = beam_search(
            model,
            flat,
            batch._replace(**{name: getattr(batch, name)[row : row + 1] for name in batch._fields}),
            Search(width, limit),
        )
        time = alone.ids.shape[2]
        np.testing.assert_array_equal(together.ids[row, :, :time], alone.ids[0])
        np.testing.assert_array_equal(together.ids[row, :, time:], EOS)
        np.testing.assert_allclose(together.scores[row], alone.scores[0], rtol=1e-4)


def test_a_beam_wider_than_the_vocabulary_works():
    model, flat, batch = make()
    found = beam_search(model, flat, batch, Search(width=25, max_length=3))
    assert found.ids.shape[:2] == (3, 25)
    assert np.isfinite(found.log_probabilities).all()
    assert np.isfinite(found.scores).all()
    for rows in found.ids.numpy():
        assert len({tuple(row) for row in rows}) == 25


@every_attention
@pytest.mark.parametrize("width", [1, 3])
def test_sentences_that_leave_the_batch_early_are_translated_as_by_themselves(attention, width):
    """Trained a little, so that they end at different times."""
    options = {"direction": "bi", "encoder_type": "cudnn_lstm", "attention": attention}
    adam = OptimizerConfig(optimizer="adam", learning_rate=0.02)
    trainer = small.trainer(optimizer=adam, **options)
    batch = small.batch([5, 1, 3, 2, 7, 4, 6, 1], [5, 1, 3, 2, 7, 4, 6, 1])
    ends = tf.sequence_mask(batch.target_lengths - 1, 7)
    batch = batch._replace(target=tf.where(ends, batch.target, EOS))
    for _ in range(60):
        trainer.train_step((batch,))
    model, flat = trainer.model, trainer.weights
    search = Search(width, 12, 0.6, 0.1 if attention != "none" else 0.0)
    together = tf.function(lambda: beam_search(model, flat, batch, search), autograph=False)()
    lengths = set()
    for row in range(8):
        one = batch._replace(
            source=batch.source[row : row + 1, : int(batch.source_lengths[row])],
            source_lengths=batch.source_lengths[row : row + 1],
            target=batch.target[:1],
            target_lengths=batch.target_lengths[:1],
        )
        alone = beam_search(model, flat, one, search)
        time = alone.ids.shape[2]
        lengths.add(time)
        np.testing.assert_array_equal(together.ids[row, :, :time], alone.ids[0])
        np.testing.assert_array_equal(together.ids[row, :, time:], EOS)
        np.testing.assert_allclose(together.scores[row], alone.scores[0], rtol=1e-4)
    assert len(lengths) > 2


@pytest.mark.parametrize("size", [19, 640, 1000, 6000, 7919])
@pytest.mark.parametrize("count", [1, 5])
def test_the_largest_entries_are_found_in_chunks_as_without(size, count):
    """Many of them are equal, and whole rows are."""
    rng = np.random.default_rng(size)
    rows = tf.constant(rng.integers(-40, 40, [30, size]), tf.float32)
    rows = tf.concat([rows, tf.zeros([1, size]), tf.fill([1, size], tf.float32.min)], axis=0)
    for one, other in zip(top_entries(rows, count), tf.math.top_k(rows, count)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("trained_length", "source_words", "expected"),
    [(50, 3, 50), (50, 40, 80), (100_000, 3, 56), (3, 3, 6)],
)
def test_no_translation_is_much_longer_than_its_source(trained_length, source_words, expected):
    """A model that never ends would otherwise go on for as long as --tgt_max_len allows."""
    limits = long_enough(trained_length).limits(tf.constant([source_words]))
    assert limits.numpy().tolist() == [expected]


def test_a_length_that_is_asked_for_is_the_limit():
    assert Search(max_length=7).limits(tf.constant([3, 90])).numpy().tolist() == [7, 7]


def test_what_was_cut_off_comes_after_what_has_ended():
    """It has not paid for its end, so that its score is no match for theirs."""
    beam = Beam(
        ids=tf.constant([[[1, 5, 6], [1, 4, EOS], [1, 7, EOS]]]),
        log_probabilities=tf.constant([[-1.0, -4.0, -3.0]]),
        lengths=tf.constant([[2.0, 2.0, 2.0]]),
        coverage=tf.zeros([1, 3, 1]),
        limits=tf.constant([2]),
        states=[],
    )
    running = Running(beam, (), tf.constant([[[True]]]), tf.constant([0]))
    empty = Hypotheses(tf.fill([1, 3, 2], EOS), tf.zeros([1, 3]), tf.zeros([1, 3]))
    found = put(empty, running, Search(width=3, max_length=2))
    assert found.ids.numpy().tolist() == [[[7, EOS], [4, EOS], [5, 6]]]
    assert found.scores.numpy().tolist() == [[-3.0, -4.0, -1.0]]


def test_scores_are_gnmts():
    """log P / ((5 + n) / 6) ** alpha + beta * the sum of log(min(coverage, 1)) over real words."""
    search = Search(length_penalty=0.6, coverage_penalty=0.2)
    coverage, inside = tf.constant([[[0.5, 2.0, 0.1]]]), tf.constant([[[True, True, False]]])
    looked_at = covered(coverage, inside)
    found = penalized(search, tf.constant([[-3.0]]), tf.constant([[7.0]]), looked_at)
    assert float(found[0, 0]) == pytest.approx(-3.0 / 2.0**0.6 + 0.2 * np.log(0.5))
