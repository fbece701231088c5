import io

import pytest
import sentencepiece

from input_pipeline.subwords import SubwordVocabulary, Wish, read_subwords, train_subwords
from input_pipeline.vocabulary import EOS
from nmt.errors import UserError
from tests.corpora import prose

TEXT = [pair.target for pair in prose()]


def train(kind="unigram", size=60, exact=True, text=TEXT):
    return train_subwords(text, Wish(kind, size, exact), "--tgt_vocab_size")


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_text_survives_the_round_trip(kind):
    vocabulary = SubwordVocabulary(train(kind, exact=kind != "char"))
    for text in ("ein kleiner Hund", "die grüne Tür", ""):
        (ids,) = vocabulary.encode([text])
        assert vocabulary.decode([*ids, EOS, 5]) == text
    assert min(ids for row in vocabulary.encode(TEXT) for ids in row) > EOS


def test_the_size_is_met_or_the_way_out_is_said():
    assert len(SubwordVocabulary(train(size=60))) == 60
    with pytest.raises(UserError, match=r"--tgt_vocab_size=5000 is more .* give \d+ or less"):
        train(size=5000)
    with pytest.raises(UserError, match=r"--tgt_vocab_size=9 is less .* give \d+ or more"):
        train(size=9)
    assert len(SubwordVocabulary(train(size=5000, exact=False))) < 5000


def test_text_without_words_is_refused():
    with pytest.raises(UserError, match="cannot learn a vocabulary"):
        train(text=["", " "])


def test_the_same_text_gives_the_same_model():
    assert train() == train()


def test_only_characters_have_a_space():
    assert SubwordVocabulary(train("bpe")).space is None
    spelled = SubwordVocabulary(train("char", exact=False))
    (ids,) = spelled.encode(["ein kleiner Hund"])
    assert ids.count(spelled.space) == 3


def test_control_pieces_do_not_hide_that_a_model_spells():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=model,
        model_type="char",
        vocab_size=60,
        minloglevel=2,
        control_symbols=["<pad>"],
    )
    assert SubwordVocabulary(model.getvalue()).space is not None


def test_a_model_file_is_loaded_and_a_damaged_one_refused(tmp_path):
    path = tmp_path / "a.model"
    path.write_bytes(train())
    assert len(read_subwords(path)) == 60
    for data in (b"", b"no model", train()[:100]):
        path.write_bytes(data)
        with pytest.raises(UserError, match="is not a SentencePiece model, or damaged"):
            read_subwords(path)


def test_a_model_with_other_special_ids_is_refused(tmp_path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=model,
        vocab_size=60,
        minloglevel=2,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
    )
    path = tmp_path / "a.model"
    path.write_bytes(model.getvalue())
    with pytest.raises(UserError, match=r"<unk>, <s>, </s> at \(1, 2, 3\); they must be at \(0, 1"):
        read_subwords(path)
