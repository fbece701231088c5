from input_pipeline.vocabulary import BOS, EOS, SPECIAL_WORDS, UNK, build_vocabulary


def test_special_words_have_fixed_ids():
    vocabulary = build_vocabulary(["b a", "a c"])
    assert vocabulary.words == ("<unk>", "<s>", "</s>", "a", "b", "c")
    assert [SPECIAL_WORDS[i] for i in (UNK, BOS, EOS)] == ["<unk>", "<s>", "</s>"]


def test_text_survives_the_round_trip_and_unknown_words_are_marked():
    vocabulary = build_vocabulary(["b a", "a c"])
    assert vocabulary.decode(vocabulary.encode("c a b")) == "c a b"
    assert vocabulary.encode("a z") == [3, UNK]


def test_decoding_stops_at_the_end_word():
    assert build_vocabulary(["a b"]).decode([3, EOS, 4]) == "a"
