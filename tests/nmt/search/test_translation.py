import numpy as np
import pytest
import tensorflow as tf

from input_pipeline.vocabulary import EOS, UNK, WordVocabulary
from nmt.errors import UserError
from nmt.search.beam import Search
from nmt.search.translation import MOST_PLACES, Translator, of_like_length, padded
from tests import small

SOURCE = WordVocabulary(("<unk>", "<s>", "</s>", *(f"s{n}" for n in range(small.SIZES.source - 3))))
TARGET = WordVocabulary(("<unk>", "<s>", "</s>", *(f"t{n}" for n in range(small.SIZES.target - 3))))
TEXT = ["s1 s2 s3", "", "s4", "s5 s1 s1 s7 s8 s2", "  ", "unheard", "s1 s2 s3"]


SHORT = Search(max_length=6)


def make(search=SHORT, batch_size=64):
    model = small.model(encoder_type="cudnn_lstm", attention="luong")
    return Translator(model, small.weights(model, 11), SOURCE, TARGET, search, batch_size)


def test_order_and_empty_lines_are_kept_whatever_the_batches():
    together = make()(TEXT)
    assert [not text for text in together] == [False, True, False, False, True, False, False]
    assert together[0] == together[6]
    assert make(batch_size=2)(TEXT) == together
    assert [make()([line])[0] for line in TEXT] == together


def test_batches_hold_sentences_of_like_length():
    lengths = [3, 9, 1, 8, 2]
    batches = list(of_like_length(lengths, 2))
    assert [[lengths[n] for n in rows] for rows in batches] == [[9, 8], [3, 2], [1]]


def test_a_long_line_does_not_make_short_ones_as_long():
    lengths = [3] * 130 + [MOST_PLACES + 1, MOST_PLACES // 2]
    batches = list(of_like_length(lengths, 64))
    assert [[lengths[n] for n in rows] for rows in batches[:2]] == [
        [MOST_PLACES + 1],
        [MOST_PLACES // 2, 3],
    ]
    assert sorted(n for rows in batches for n in rows) == list(range(len(lengths)))


def test_short_memory_is_one_line():
    def exhausted(batch):
        raise tf.errors.ResourceExhaustedError(None, None, "OOM")

    translator = make()
    translator.__dict__["translate"] = exhausted
    said = "not enough memory for 2 sentences of up to 3 words; give a smaller --batch_size"
    with pytest.raises(UserError, match=said):
        translator(["s1", "s1 s2 s3"])


def test_progress_is_told_of_every_batch():
    told = []
    make(batch_size=2).n_best(TEXT, progress=told.append)
    assert told == [2, 2, 2, 1]


def test_several_translations_come_best_first():
    for found in make(Search(width=3, max_length=6)).n_best(["s1 s2", "s3"]):
        assert len({one.text for one in found}) == 3
        scores = [one.score for one in found]
        assert scores == sorted(scores, reverse=True)


def test_the_graph_is_made_once():
    translator = make()
    translator(["s1", "s2 s3"])
    translator(["s1 s2 s3 s4"])
    assert translator.translate.experimental_get_tracing_count() == 1


def test_a_batch_to_translate_is_padded_at_the_end():
    batch = padded([[3], [4, 5, UNK]])
    np.testing.assert_array_equal(batch.source, [[3, 0, 0], [4, 5, UNK]])
    np.testing.assert_array_equal(batch.source_lengths, [1, 3])
    np.testing.assert_array_equal(batch.target, [[EOS], [EOS]])


@pytest.mark.parametrize("texts", [[], [""], ["", " "]])
def test_nothing_to_translate_is_nothing(texts):
    assert make()(texts) == [""] * len(texts)


def test_places_of_a_beam_that_no_translation_came_to_are_left_out():
    """One word long there are as many translations as words."""
    found = make(Search(width=40, max_length=1)).n_best(["s1 s2"])[0]
    assert len(found) == small.SIZES.target
    assert len({one.log_probability for one in found}) > 1
    assert all(one.score > -100.0 for one in found)
