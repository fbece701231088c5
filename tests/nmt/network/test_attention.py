import numpy as np
import pytest
import tensorflow as tf

from nmt.config import ATTENTIONS, NO_ATTENTION
from nmt.network.attention import SCORES, AttentionWeights, attend, remember

BATCH, TARGET, SOURCE, DEPTH, UNITS = 2, 3, 4, 6, 5
LENGTHS = tf.constant([4, 2])
# As in training, and as in translating: one step, and enough sentences for oneDNN to go wrong.
SIZES = [(2, 3), (12, 1)]


def normal(seed, *shape):
    return tf.random.stateless_normal(shape, [seed, 1])


def make_weights():
    return AttentionWeights(
        memory=normal(1, DEPTH, UNITS),
        combine=normal(2, DEPTH + UNITS, UNITS),
        query=normal(3, UNITS, UNITS),
        vector=normal(4, UNITS),
        gain=tf.constant([0.7]),
        bias=normal(5, UNITS),
    )


def score_of(name, query, key, w):
    """One query and one key, written out."""
    unit = w.vector / np.linalg.norm(w.vector)
    return {
        "luong": lambda: query @ key,
        "scaled_luong": lambda: 0.7 * (query @ key),
        "bahdanau": lambda: np.tanh(query @ w.query + key) @ w.vector,
        "normed_bahdanau": lambda: 0.7 * np.tanh(query @ w.query + key + w.bias) @ unit,
    }[name]()


def test_the_flag_and_the_table_name_the_same_kinds():
    assert (NO_ATTENTION, *SCORES) == ATTENTIONS


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize(("batch", "target"), SIZES)
def test_it_is_what_the_papers_say(name, batch, target):
    weights, outputs = make_weights(), normal(6, SOURCE, batch, DEPTH)
    queries, lengths = normal(7, batch, target, UNITS), tf.constant([4, 2] * (batch // 2))
    found = attend(SCORES[name], queries, remember(outputs, lengths, weights), weights)
    w = AttentionWeights(*(part.numpy() for part in weights))
    for row, length in enumerate(lengths.numpy()):
        values = outputs.numpy()[:length, row]
        for time, query in enumerate(queries.numpy()[row]):
            scores = [score_of(name, query, value @ w.memory, w) for value in values]
            shares = np.exp(scores) / np.sum(np.exp(scores))
            np.testing.assert_allclose(found.shares[row, time, :length], shares, atol=1e-5)
            output = np.tanh(np.concatenate([shares @ values, query]) @ w.combine)
            np.testing.assert_allclose(found.outputs[row, time], output, atol=1e-5)


@pytest.mark.parametrize("name", SCORES)
def test_nobody_looks_at_padding(name):
    weights, outputs = make_weights(), normal(6, SOURCE, BATCH, DEPTH)
    memory = remember(outputs, LENGTHS, weights)
    shares = attend(SCORES[name], normal(7, BATCH, TARGET, UNITS), memory, weights).shares
    assert not shares[1, :, 2:].numpy().any()
    np.testing.assert_allclose(tf.reduce_sum(shares, axis=2), np.ones([BATCH, TARGET]), rtol=1e-6)
