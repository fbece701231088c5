import numpy as np
import pytest
import tensorflow as tf

from nmt.config import ATTENTIONS, ENCODER_TYPES
from nmt.network.lstm.layers import State
from nmt.network.lstm.stacks import STACKS
from nmt.network.model import hand_over, make_model, shift_right
from nmt.types import Batch
from tests import small

SEED = tf.constant([1, 2])
KINDS = {
    **{f"{name} attention": {"attention": name} for name in ATTENTIONS},
    "residual": {"residual": True, "num_encoder_layers": 4, "num_decoder_layers": 3},
    "tied": {"tied_embeddings": True, "embedding_dim": 8},
    "smoothed": {"label_smoothing": 0.2},
}
KINDS["all"] = {name: value for kind in KINDS.values() for name, value in kind.items()}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
SHAPES = [("uni", 2, 2), ("bi", 2, 2), ("bi", 4, 3), ("uni", 1, 3), ("uni", 3, 1)]


def loss_and_gradients(model, weights, batch):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = model.loss_sum(weights, batch, SEED)
    gradients = tape.gradient(loss, weights)
    return [loss.numpy(), *(tf.convert_to_tensor(g).numpy() for g in gradients)]


def test_every_encoder_type_has_an_implementation_for_every_device():
    assert {name for name, _ in STACKS} == set(ENCODER_TYPES)
    assert {kind for _, kind in STACKS} == {"CPU", "GPU"}


@pytest.mark.parametrize(("direction", "encoder", "decoder"), SHAPES)
def test_both_encoders_compute_the_same_loss_and_gradients(direction, encoder, decoder):
    shape = {
        "direction": direction,
        "num_encoder_layers": encoder,
        "num_decoder_layers": decoder,
    }
    models = [small.model(encoder_type=name, **shape) for name in ENCODER_TYPES]
    weights, batch = small.weights(models[0]), small.batch([5, 1, 3], [2, 6, 4])
    one, other = (loss_and_gradients(model, weights, batch) for model in models)
    assert all(np.any(gradient) for gradient in one[1:])
    for expected, actual in zip(one, other):
        np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5)


@every_kind
@pytest.mark.parametrize("direction", ["uni", "bi"])
def test_both_encoders_compute_the_same_whatever_the_model_has(kind, direction):
    models = [small.model(encoder_type=n, direction=direction, **kind) for n in ENCODER_TYPES]
    weights, batch = small.weights(models[0]), small.batch([5, 1, 3], [2, 6, 4])
    one, other = (loss_and_gradients(model, weights, batch) for model in models)
    assert all(np.any(gradient) for gradient in one[1:])
    for expected, actual in zip(one, other):
        np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-4)


@every_kind
@pytest.mark.parametrize("direction", ["uni", "bi"])
@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
def test_seven_more_columns_of_padding_change_nothing(encoder_type, direction, kind):
    model = small.model(encoder_type=encoder_type, direction=direction, **kind)
    weights, batch = small.weights(model), small.batch([5, 1, 3], [2, 6, 4])
    junk = tf.fill([3, 7], 5)
    padded = batch._replace(
        source=tf.concat([batch.source, junk], 1), target=tf.concat([batch.target, junk], 1)
    )
    for expected, actual in zip(
        loss_and_gradients(model, weights, batch), loss_and_gradients(model, weights, padded)
    ):
        np.testing.assert_allclose(actual, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
def test_ids_after_a_sentences_end_mean_nothing(encoder_type):
    model = small.model(encoder_type=encoder_type, direction="bi")
    weights, batch = small.weights(model), small.batch([5, 1, 3], [2, 6, 4])
    expected = loss_and_gradients(model, weights, batch)
    source = tf.where(tf.sequence_mask(batch.source_lengths), batch.source, 9)
    target = tf.where(tf.sequence_mask(batch.target_lengths), batch.target, 9)
    changed = batch._replace(source=source, target=target)
    assert np.any(changed.source != batch.source)
    for one, other in zip(expected, loss_and_gradients(model, weights, changed)):
        np.testing.assert_allclose(other, one, atol=1e-6, rtol=1e-6)


def test_a_row_that_only_fills_up_adds_nothing():
    model = small.model()
    weights, batch = small.weights(model), small.batch([5, 2, 3], [2, 6, 0])
    without = Batch(*(part[:2] for part in batch))
    for one, other in zip(
        loss_and_gradients(model, weights, batch), loss_and_gradients(model, weights, without)
    ):
        np.testing.assert_allclose(other, one, atol=1e-6)


@every_kind
def test_gradient_agrees_with_finite_differences(kind):
    model = small.model(encoder_type="cudnn_lstm", direction="bi", **kind)
    weights, batch = small.weights(model), small.batch([4, 2], [3, 5])
    gradients = loss_and_gradients(model, weights, batch)[1:]
    for index, weight in enumerate(weights):
        way = tf.random.stateless_normal(weight.shape, [index, 7])
        losses = [
            model.loss_sum([*weights[:index], weight + d * way, *weights[index + 1 :]], batch, SEED)
            for d in (-5e-3, 5e-3)
        ]
        slope = (losses[1] - losses[0]) / 1e-2
        np.testing.assert_allclose(
            tf.reduce_sum(gradients[index] * way), slope, rtol=0.02, atol=0.02
        )


def test_a_fresh_model_is_near_the_uniform_guess():
    model = small.model()
    batch = small.batch([5, 1, 3], [2, 6, 4])
    loss = model.loss_sum(small.weights(model), batch, SEED) / 12
    assert abs(float(loss) - np.log(small.SIZES.target)) < 0.3


@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
def test_dropout_changes_the_loss_with_the_seed_alone(encoder_type):
    model = small.model(encoder_type=encoder_type, dropout=0.5)
    weights, batch = small.weights(model), small.batch([5, 1, 3], [2, 6, 4])
    once, again = (float(model.loss_sum(weights, batch, SEED)) for _ in range(2))
    other = float(model.loss_sum(weights, batch, tf.constant([1, 3])))
    plain = float(small.model(encoder_type=encoder_type).loss_sum(weights, batch, SEED))
    assert once == again
    assert len({once, other, plain}) == 3


@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
def test_mixed_precision_is_close_and_hands_over_float32(encoder_type):
    plain = small.model(encoder_type=encoder_type)
    mixed = small.model(encoder_type=encoder_type, mixed_precision=True)
    weights, batch = small.weights(plain), small.batch([5, 1, 3], [2, 6, 4])
    expected = loss_and_gradients(plain, weights, batch)
    actual = loss_and_gradients(mixed, weights, batch)
    assert {value.dtype for value in actual} == {np.dtype("float32")}
    assert actual[0] != expected[0]
    np.testing.assert_allclose(actual[0], expected[0], rtol=0.02)
    for one, other in zip(expected[1:], actual[1:]):
        assert np.linalg.norm(other - one) < 0.1 * np.linalg.norm(one)


def test_a_tied_embedding_is_the_projection_and_learns_from_both():
    model = small.model(**KINDS["tied"])
    assert not any(spec.name == "projection" for spec in model.flat_specs)
    weights, batch = small.weights(model), small.batch([5, 1, 3], [2, 6, 4])
    packed = model.pack(weights)
    np.testing.assert_allclose(packed.projection, tf.transpose(weights[1]) / 8**0.5, rtol=1e-6)
    gradient = loss_and_gradients(model, weights, batch)[2]
    assert np.any(gradient, axis=1).all()  # of words too that the batch has not


def test_smoothing_is_a_mean_over_all_words():
    plain, smooth = small.model(), small.model(label_smoothing=0.2)
    weights, batch = small.weights(plain), small.batch([3], [1])
    every = [
        float(plain.loss_sum(weights, batch._replace(target=tf.constant([[word]])), SEED))
        for word in range(small.SIZES.target)
    ]
    expected = 0.8 * every[int(batch.target[0, 0])] + 0.2 * np.mean(every)
    assert float(smooth.loss_sum(weights, batch, SEED)) == pytest.approx(expected, rel=1e-5)


def test_labels_are_shifted_by_the_start_word():
    np.testing.assert_array_equal(shift_right(tf.constant([[7], [8], [2]])), [[1], [7], [8]])


@pytest.mark.parametrize(
    ("num_layers", "expected"), [(2, [1, 2]), (3, [0, 1, 2]), (4, [0, 1, 2, -1])]
)
def test_encoder_states_are_handed_over_layer_by_layer(num_layers, expected):
    model = make_model(small.model_config(num_decoder_layers=num_layers), small.SIZES, "CPU")
    weights = model.pack(small.weights(model))
    states = [State(tf.fill([1, 8], float(i + 1)), tf.fill([1, 8], -1.0)) for i in range(3)]
    handed = hand_over(states, weights)
    assert [int(s.hidden[0, 0]) - 1 for s in handed] == expected
