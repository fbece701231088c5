import numpy as np
import pytest
import tensorflow as tf

from input_pipeline.corpus import Pair
from input_pipeline.vocabulary import EOS, build_vocabulary
from nmt.config import ATTENTIONS, OptimizerConfig
from nmt.judging.evaluation import evaluate, summary
from nmt.network.lstm.layers import NO_DROPOUT
from nmt.search.beam import Search
from nmt.search.translation import Translator
from tests import small
from tests.greedy import greedy

ADAM = OptimizerConfig(optimizer="adam", learning_rate=0.02)


def forced_best(model, flat, batch, target):
    """The most likely next words when the decoder is fed `target`, by the training graph."""
    weights = model.pack(flat)
    labels = tf.transpose(target)
    outputs = model.decode(weights, labels, model.encode(weights, batch), NO_DROPOUT)
    return tf.transpose(tf.argmax(outputs @ weights.projection, -1, tf.int32))


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("more", [{}, {"residual": True, "num_decoder_layers": 3}])
def test_greedy_words_are_the_best_under_a_forced_pass(attention, more):
    how = {"direction": "bi", "encoder_type": "cudnn_lstm", "attention": attention, **more}
    model = small.model(**how)
    flat, batch = small.weights(model, seed=11), small.batch([5, 1, 3], [2, 6, 4])
    found = greedy(model, flat, batch, 8)
    best = forced_best(model, flat, batch, found)
    alive = np.cumsum(found.numpy() == EOS, axis=1) <= (found.numpy() == EOS)
    np.testing.assert_array_equal(found.numpy()[alive], best.numpy()[alive])


def test_greedy_stops_at_the_longest_length():
    model = small.model()
    found = greedy(model, small.weights(model), small.batch([5, 1], [2, 6]), 4)
    assert found.shape == (2, 4)


def test_a_memorised_pair_is_translated_and_scored():
    pairs = [Pair("a b c d", "k l m n o"), Pair("d c", "o n")]
    vocabularies = (
        build_vocabulary(p.source for p in pairs),
        build_vocabulary(p.target for p in pairs),
    )
    trainer = small.trainer(optimizer=ADAM)
    ids = [[*row, EOS] for row in vocabularies[1].encode([p.target for p in pairs])]
    target = tf.constant([ids[0], [*ids[1], 0, 0, 0]])
    source = tf.constant([[3, 4, 5, 6], [6, 5, 0, 0]])
    batch = small.batch([4, 2], [6, 3])._replace(source=source, target=target)
    for _ in range(150):
        trainer.train_step((batch,))
    weights = trainer.strategy.copies[0].variables
    translator = Translator(trainer.model, weights, *vocabularies, Search(max_length=10))
    result = evaluate(translator, pairs, tokenized=True)
    assert result.translations == [pair.target for pair in pairs]
    assert result.bleu > 99
    found = greedy(trainer.model, weights, batch, 10).numpy().tolist()
    assert found == [ids[0], [*ids[1], EOS, EOS, EOS]]
    assert "tok:none" in result.signature
    assert "tok:13a" in evaluate(translator, pairs, tokenized=False).signature
    assert "k l m n o" in summary(result, "unseen test sentences")
