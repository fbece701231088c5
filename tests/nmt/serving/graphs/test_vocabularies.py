import random
import unicodedata

import pytest
import sentencepiece
import tensorflow as tf

from input_pipeline.subwords import SubwordVocabulary, Wish, train_subwords
from input_pipeline.vocabulary import build_vocabulary
from nmt.errors import UserError
from nmt.serving.graphs import charsmap
from nmt.serving.graphs.vocabularies import make
from tests.corpora import prose

ODD = [
    "",
    "   ",
    "  two  spaces ",
    "tabs\tand\u00a0hard\u3000wide spaces\u2009thin",
    "ﬁne ligatures, ½ and ①",
    "e\u0301te\u0301 (decomposed), n\u0303, a\u0308\u0323",
    "\uff26\uff35\uff2c\uff2c width \uff76\uff9e",
    "\u0000control\u0007 \u200bzero width\ufeff",
    "日本語 🤷🏽‍♀️ unknown",
    "▁its own mark ▁ ",
    "grüße, ÄÖÜ ß ẞ",
    "x" * 70,
    "…“quotes” \u2013 dash — ‰",
]


def sentences():
    return [side for pair in prose() for side in pair]


@pytest.fixture(scope="module", params=["unigram", "bpe", "char"])
def subwords(request):
    text = [*sentences(), "Die Männer grüßen über die Straße, äöü é ñ." * 3]
    return SubwordVocabulary(train_subwords(text, Wish(request.param, 200, False), "--size"))


def fuzz(count):
    draw = random.Random(5)
    text = " ".join(sentences()[:50] + ODD)
    marks = "\u0301\u0308\u0327\u0323\u200d\u00ad"
    for _ in range(count):
        begin, length = draw.randrange(len(text)), draw.randrange(60)
        piece = list(text[begin : begin + length])
        for _ in range(draw.randrange(4)):
            extra = draw.choice([*marks, chr(draw.randrange(32, 0x3000)), " "])
            piece.insert(draw.randrange(len(piece) + 1), extra)
        yield "".join(piece)


def test_a_graph_cuts_text_as_sentencepiece_does(subwords):
    encode = tf.function(make(subwords).encode, autograph=False)
    text = [*sentences()[:100], *ODD, *fuzz(300)]
    found = encode(tf.constant(text)).to_list()
    for sentence, ids, expected in zip(text, found, subwords.encode(text)):
        assert ids == expected, repr(sentence)


def test_a_graph_puts_pieces_together_as_sentencepiece_does(subwords):
    draw = random.Random(3)
    rows = [[draw.randrange(len(subwords)) for _ in range(12)] for _ in range(200)]
    rows += [row + [2] * (12 - len(row)) for row in subwords.encode(sentences()) if len(row) < 12]
    found = make(subwords).decode(tf.constant(rows, tf.int32))
    for row, text in zip(rows, found.numpy()):
        assert text.decode() == subwords.decode(row), row


def test_words_are_split_as_python_splits_them():
    vocabulary = build_vocabulary(["a b c d"])
    graph = make(vocabulary)
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    text = ["a b", "", " ", "a  x\tb\n", *(f"a{space}b{space}" for space in spaces)]
    text += [f"a{mark}b" for mark in "\u200b\u00ad\ufeff"]
    assert graph.encode(tf.constant(text)).to_list() == vocabulary.encode(text)
    ids = [[3, 4, 2, 2], [2, 2, 2, 2], [5, 0, 6, 3]]
    found = graph.decode(tf.constant(ids))
    assert [one.decode() for one in found.numpy()] == [vocabulary.decode(row) for row in ids]


def test_the_table_of_characters_is_the_one_sentencepiece_uses():
    model = train_subwords(sentences(), Wish("unigram", 100, False), "--size")
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    proto = sentencepiece.sentencepiece_model_pb2.ModelProto.FromString(model)
    rules = charsmap.read(proto.normalizer_spec.precompiled_charsmap)
    assert len(rules) > 10_000
    for code in range(33, 0x3100):
        letter = chr(code)
        if letter in rules and rules[letter].strip() and not unicodedata.combining(letter):
            assert processor.normalize(letter) == "▁" + rules[letter].strip().replace(" ", "▁")
    assert charsmap.read(b"") == {}


def test_pieces_a_graph_does_not_know_are_refused():
    model = sentencepiece.sentencepiece_model_pb2.ModelProto.FromString(
        train_subwords(sentences(), Wish("unigram", 100, False), "--size")
    )
    model.pieces[50].type = 4  # user-defined
    with pytest.raises(UserError, match="user-defined, unused or byte pieces"):
        make(SubwordVocabulary(model.SerializeToString()))


def changed(change):
    model = sentencepiece.sentencepiece_model_pb2.ModelProto.FromString(
        train_subwords(sentences(), Wish("unigram", 100, False), "--size")
    )
    change(model)
    return SubwordVocabulary(model.SerializeToString())


def test_what_unknown_words_are_written_as_is_the_models_own():
    def change(model):
        model.trainer_spec.unk_surface = "<?>"

    vocabulary = changed(change)
    found = make(vocabulary).decode(tf.constant([[0, 5, 2]]))
    assert found.numpy()[0].decode() == vocabulary.decode([0, 5, 2])
    assert vocabulary.decode([0, 5, 2]).startswith("<?>")


@pytest.mark.parametrize("one_space", [True, False])
@pytest.mark.parametrize("first_space", [True, False])
@pytest.mark.parametrize("rules", ["nmt_nfkc", "identity"])
def test_spaces_are_kept_or_taken_off_as_the_models_rules_say(one_space, first_space, rules):
    def change(model):
        model.normalizer_spec.remove_extra_whitespaces = one_space
        model.normalizer_spec.add_dummy_prefix = first_space
        if rules == "identity":
            model.normalizer_spec.precompiled_charsmap = b""

    vocabulary = changed(change)
    graph = make(vocabulary)
    text = [*ODD, "a ▁▁", "▁", " ▁", "▁a", " a  b "]
    for sentence, ids in zip(text, graph.encode(tf.constant(text)).to_list()):
        assert ids == vocabulary.encode([sentence])[0], repr(sentence)
    draw = random.Random(3)
    space = vocabulary.encode(["a b"])[0][0]
    rows = [[draw.randrange(len(vocabulary)) for _ in range(8)] for _ in range(100)]
    rows += [[space] * count + row[count:] for count in (1, 2, 3) for row in rows[:5]]
    for row, text in zip(rows, graph.decode(tf.constant(rows, tf.int32)).numpy()):
        assert text.decode() == vocabulary.decode(row), row


def test_rules_for_writing_text_are_refused():
    def change(model):
        model.normalizer_spec.escape_whitespaces = False

    with pytest.raises(UserError, match="rules of its own for writing text"):
        make(changed(change))
