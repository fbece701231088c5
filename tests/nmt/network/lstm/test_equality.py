"""All LSTM implementations compute one function of one set of weights."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from nmt.network.lstm import columns, dynamic, projection, scan
from nmt.network.lstm.layers import Dropout, LayerWeights, StackInputs, State, Words, zero_states

DEPTH, UNITS, BATCH, TIME = 5, 7, 4, 9
LENGTHS = tf.constant([9, 1, 4, 6])
RUN_STACK = {"dynamic": dynamic.run_stack, "scan": scan.run_stack}


@pytest.fixture(params=[True, False], ids=["folds", "transposes"])
def either_processor(monkeypatch, request):
    """How weights are transposed follows the processor."""
    monkeypatch.setattr(columns, "FOLDS", request.param)


def normal(rng, *shape):
    return tf.constant(rng.normal(size=shape) * 0.4, tf.float32)


def make_layers(rng, num_layers, ways):
    depths = [DEPTH] + [ways * UNITS] * (num_layers - 1)
    shapes = [[(depth, 4 * UNITS), (UNITS, 4 * UNITS), (4 * UNITS,)] for depth in depths]
    return [
        [LayerWeights(*(normal(rng, *s) for s in layer)) for _ in range(ways)] for layer in shapes
    ]


def make_case(num_layers, ways):
    rng = np.random.default_rng(5)
    layers = make_layers(rng, num_layers, ways)
    count = num_layers * ways
    states = [State(normal(rng, BATCH, UNITS), normal(rng, BATCH, UNITS)) for _ in range(count)]
    return normal(rng, TIME, BATCH, DEPTH), states, layers


def run(run_stack, sequence, states, layers, lengths=LENGTHS, from_zero=False):
    """Outputs, final states, and gradients of an uneven function of both."""

    @tf.function
    def compute(sequence, states, layers):
        with tf.GradientTape() as tape:
            tape.watch([sequence, states, layers])
            inputs = StackInputs(sequence, lengths, states, from_zero=from_zero)
            outputs, final = run_stack(inputs, layers)
            total = tf.reduce_sum(tf.sin(3 * outputs))
            total += sum(tf.reduce_sum(tf.cos(s.hidden) + s.cell**2) for s in final)
        return outputs, final, tape.gradient(total, [sequence, states, layers])

    return [value.numpy() for value in tf.nest.flatten(compute(sequence, states, layers))]


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("lengths", [LENGTHS, None], ids=["ragged", "full"])
@pytest.mark.usefixtures("either_processor")
def test_scan_equals_dynamic(num_layers, ways, lengths):
    case = make_case(num_layers, ways)
    expected, actual = (run(way, *case, lengths) for way in RUN_STACK.values())
    assert len(expected) == 1 + 2 * num_layers * ways + 1 + 5 * num_layers * ways
    for one, other in zip(expected, actual):
        np.testing.assert_allclose(other, one, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("num_steps", [1, 2, TIME])
@pytest.mark.parametrize("lengths", [LENGTHS, None], ids=["ragged", "full"])
@pytest.mark.usefixtures("either_processor")
def test_states_that_begin_with_zeros_need_not_be_multiplied(lengths, num_steps, ways):
    sequence, _, layers = make_case(2, ways)
    states = zero_states(layers, BATCH)
    case = (sequence[:num_steps], states, layers)
    lengths = None if lengths is None else tf.minimum(lengths, num_steps)
    expected = run(dynamic.run_stack, *case, lengths)
    actual = run(scan.run_stack, *case, lengths, from_zero=True)
    num_given = 1 + 2 * len(states)  # outputs and last states
    begun = range(num_given + 1, num_given + 1 + 2 * len(states))  # gradients nobody asks for
    for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
        if number in begun:
            assert not other.any()
        else:
            np.testing.assert_allclose(other, one, atol=1e-5, rtol=1e-5)


def test_dynamic_equals_keras():
    sequence, _, layers = make_case(1, 1)
    layer = tf.keras.layers.LSTM(UNITS, return_sequences=True, return_state=True)
    layer.build([BATCH, TIME, DEPTH])
    layer.set_weights([part.numpy() for part in layers[0][0]])
    mask = tf.sequence_mask(LENGTHS, TIME)
    outputs, hidden, cell = layer(tf.transpose(sequence, [1, 0, 2]), mask=mask)
    actual = dynamic.run_stack(StackInputs(sequence, LENGTHS, zero_states(layers, BATCH)), layers)
    expected = outputs * tf.cast(mask, tf.float32)[:, :, tf.newaxis]
    np.testing.assert_allclose(tf.transpose(actual.sequence, [1, 0, 2]), expected, atol=1e-5)
    np.testing.assert_allclose(actual.final[0].hidden, hidden, atol=1e-5)
    np.testing.assert_allclose(actual.final[0].cell, cell, atol=1e-5)


@pytest.mark.parametrize("way", RUN_STACK)
def test_outputs_are_zero_and_states_stand_still_after_the_end(way):
    sequence, states, layers = make_case(1, 1)
    outputs, final = RUN_STACK[way](StackInputs(sequence, LENGTHS, states), layers)
    alone = StackInputs(sequence[:4], tf.fill([BATCH], 4), states)
    assert not outputs[4:, 2].numpy().any()
    np.testing.assert_allclose(
        final[0].hidden[2], RUN_STACK[way](alone, layers).final[0].hidden[2], atol=1e-6
    )


@pytest.mark.parametrize("way", RUN_STACK)
def test_backward_direction_starts_at_each_sentences_end(way):
    sequence, states, layers = make_case(1, 2)
    outputs = RUN_STACK[way](StackInputs(sequence, LENGTHS, states), layers).sequence
    turned = tf.reverse_sequence(sequence, LENGTHS, 0, 1)
    alone = RUN_STACK[way](StackInputs(turned, LENGTHS, states[1:]), [layers[0][1:]]).sequence
    expected = tf.reverse_sequence(alone, LENGTHS, 0, 1)
    np.testing.assert_allclose(outputs[..., UNITS:], expected, atol=1e-6)


def run_words(run_stack, table, ids, states, layers, dropout):
    """Outputs, and gradients of the table and all else."""

    @tf.function
    def compute(table, states, layers):
        with tf.GradientTape() as tape:
            tape.watch([table, states, layers])
            words = StackInputs(Words(table, ids), LENGTHS, states)
            outputs, final = run_stack(words, layers, dropout)
            total = tf.reduce_sum(tf.sin(3 * outputs)) + tf.reduce_sum(final[-1].cell ** 2)
        first, *rest = tape.gradient(total, [table, states, layers])
        return outputs, tf.convert_to_tensor(first), rest

    return [value.numpy() for value in tf.nest.flatten(compute(table, states, layers))]


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.parametrize(("num_words", "fewest"), [(3, 0), (3, 320), (200, 0)])
@pytest.mark.usefixtures("either_processor")
def test_words_that_repeat_are_computed_once_with_the_same_result(
    monkeypatch, ways, rate, num_words, fewest
):
    """Fewer and more words than are multiplied at once; dropout makes every one another."""
    monkeypatch.setattr(projection, "FEWEST_WORDS", fewest)
    _, states, layers = make_case(2, ways)
    rng = np.random.default_rng(9)
    table = normal(rng, num_words, DEPTH)
    ids = tf.constant(rng.integers(0, num_words, [TIME, BATCH]), tf.int32)
    dropout = Dropout(rate, tf.constant([1, 2]))
    how = (table, ids, states, layers, dropout)
    expected, actual = (run_words(way, *how) for way in RUN_STACK.values())
    for one, other in zip(expected, actual):
        np.testing.assert_allclose(other, one, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("either_processor")
@pytest.mark.parametrize("batched", [True, False])
def test_large_matmuls_are_the_same_both_ways(monkeypatch, batched):
    """Which of them is taken follows the processor."""
    monkeypatch.setattr(
        columns, "large_matmul", functools.partial(columns.large_matmul, batched=batched)
    )
    rng = np.random.default_rng(3)
    rows, kernel, bias = normal(rng, 6, DEPTH), normal(rng, DEPTH, UNITS), normal(rng, UNITS)
    found = columns.turn(columns.project(columns.turn(rows), kernel, bias))
    np.testing.assert_allclose(found, rows.numpy() @ kernel + bias, atol=1e-6)
    back = columns.turn(columns.project_back(columns.turn(found), kernel))
    np.testing.assert_allclose(back, found.numpy() @ kernel.numpy().T, atol=1e-6)
    outer = columns.outer(columns.turn(rows), columns.turn(found))
    np.testing.assert_allclose(outer, rows.numpy().T @ found, atol=1e-6)


def test_the_gradient_of_a_bias_is_added_up_in_float32():
    """As it would be summed in 16 bits, it stops at 256."""
    rows, bias = tf.ones([1000, 4], tf.bfloat16), tf.zeros([8], tf.bfloat16)
    weights = LayerWeights(tf.ones([4, 8], tf.bfloat16), tf.ones([2, 8], tf.bfloat16), bias)
    places = tf.reshape(tf.range(1000), [10, 100])
    with tf.GradientTape() as tape:
        tape.watch(bias)
        steps = projection.steps_of(rows, places, weights)
        total = tf.reduce_sum(tf.cast(steps, tf.float32))
    np.testing.assert_allclose(tf.cast(tape.gradient(total, bias), tf.float32), 1000.0, rtol=0.01)


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3])
def test_dropout_in_16_bits_drops_what_was_asked_for(rate):
    values = tf.cast(tf.random.stateless_uniform([1000, 1000], [1, 2], 1.0, 2.0), tf.bfloat16)
    dropped = Dropout(rate, tf.constant([3, 4]))(values, 0)
    assert dropped.dtype == tf.bfloat16
    assert np.mean(dropped == 0) == pytest.approx(rate, abs=0.002)
    before, after = (np.mean(tf.cast(each, tf.float32)) for each in (values, dropped))
    assert after == pytest.approx(before, rel=0.001)


def test_gradients_of_a_word_that_is_often_there_are_added_up_in_float32():
    """In 16 bits a sum stops growing where what is added is less than half its last bit."""
    rows = tf.ones([1, 4], tf.bfloat16)
    places = tf.zeros([10, 60], tf.int32)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        total = tf.reduce_sum(tf.cast(projection.repeat(rows, places), tf.float32))
    np.testing.assert_allclose(tf.cast(tape.gradient(total, rows), tf.float32), 600.0, rtol=0.01)
