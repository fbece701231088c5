import pytest

from input_pipeline.vocabulary import BOS, EOS, SPECIAL_WORDS, UNK, build_vocabulary, read_words
from nmt.errors import UserError


def test_special_words_have_fixed_ids():
    vocabulary = build_vocabulary(["b a", "a c </s> <unk>"])
    assert vocabulary.words == ("<unk>", "<s>", "</s>", "a", "b", "c")
    assert [SPECIAL_WORDS[i] for i in (UNK, BOS, EOS)] == ["<unk>", "<s>", "</s>"]


def test_text_survives_the_round_trip_and_unknown_words_are_marked():
    vocabulary = build_vocabulary(["b a", "a c"])
    assert vocabulary.decode(*vocabulary.encode(["c a b"])) == "c a b"
    assert vocabulary.encode(["a z", ""]) == [[3, UNK], []]


def test_special_words_in_a_text_are_unknown():
    assert build_vocabulary(["a"]).encode(["<s> a </s>"]) == [[UNK, 3, UNK]]


def test_decoding_stops_at_the_end_word():
    assert build_vocabulary(["a b"]).decode([3, EOS, 4]) == "a"


def test_the_most_frequent_words_are_taken():
    assert build_vocabulary(["c b a b c d c"], size=5).words[3:] == ("b", "c")
    assert build_vocabulary(["b a"], size=100).words[3:] == ("a", "b")


def test_a_file_keeps_a_vocabulary(tmp_path):
    vocabulary = build_vocabulary(["Straße a"])
    path = tmp_path / "v"
    path.write_bytes(vocabulary.to_bytes())
    assert read_words(path) == vocabulary
    path.write_bytes(b"\xef\xbb\xbf" + vocabulary.to_bytes().replace(b"\n", b"\r\n"))
    assert read_words(path) == vocabulary


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"the\na\n", "begins with 'the a'; .*are <unk>, <s>, </s>: add them"),
        (b"<unk>\n</s>\n<s>\na\n", "begins with '<unk> </s> <s>';"),
        (b"", "begins with ''"),
        (b"<unk>\n<s>\n</s>\na\nb\na\n", "has 'a' in line 4 and again in line 6;"),
        (b"<unk>\n<s>\n</s>\na\n\nb\n", "has no word in line 5;"),
        (b"<unk>\n<s>\n</s>\n\xff\n", "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused(tmp_path, text, message):
    path = tmp_path / "v"
    path.write_bytes(text)
    with pytest.raises(UserError, match=message):
        read_words(path)
