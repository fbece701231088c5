import dataclasses
import itertools

import pytest

from input_pipeline import kept_vocabularies, vocabularies
from input_pipeline.corpus import Corpus, blocks_of_pairs
from input_pipeline.subwords import SubwordVocabulary
from input_pipeline.vocabulary import WordVocabulary, build_vocabulary
from nmt.config import DataConfig
from nmt.errors import UserError
from tests.corpora import prose

PAIRS = prose()
CONFIG = DataConfig(dataset="files", src_vocab_size=60, tgt_vocab_size=70)


@pytest.fixture
def corpus():
    reads = []

    def blocks():
        reads.append(1)
        return blocks_of_pairs(PAIRS)

    return Corpus("toy", blocks, ("toy",), [], reads)  # `test` counts how often the text was read


def make(corpus, tmp_path, output_dir="", **changes):
    config = dataclasses.replace(CONFIG, cache_dir=str(tmp_path / "cache"), **changes)
    return vocabularies.make_vocabularies(config, corpus, str(output_dir))


def test_pieces_are_learned_once_per_side_and_reused(corpus, tmp_path):
    first, again = make(corpus, tmp_path), make(corpus, tmp_path)
    assert [len(vocabulary) for vocabulary in first] == [60, 70]
    assert [v.to_bytes() for v in first] == [v.to_bytes() for v in again]
    assert len(corpus.test) == 2


def test_other_text_or_size_or_kind_is_learned_anew(corpus, tmp_path):
    make(corpus, tmp_path)
    assert len(make(corpus, tmp_path, src_vocab_size=50)[0]) == 50
    make(corpus, tmp_path, vocab_type="bpe")
    make(corpus._replace(identity=("changed",)), tmp_path)
    assert len(corpus.test) == 2 + 1 + 2 + 2


def test_a_joint_vocabulary_is_one_learned_from_both_sides(corpus, tmp_path):
    source, target = make(corpus, tmp_path, joint_vocab=True, src_vocab_size=0, tgt_vocab_size=90)
    assert source.to_bytes() == target.to_bytes()
    assert len(source) == 90
    assert 0 not in source.encode([PAIRS[0].source])[0] + source.encode([PAIRS[0].target])[0]


@pytest.mark.parametrize(("kind", "made"), [("word", WordVocabulary), ("char", SubwordVocabulary)])
def test_words_and_characters_are_at_most_so_many(corpus, tmp_path, kind, made):
    few, all_of_them = (
        make(corpus, tmp_path, vocab_type=kind, src_vocab_size=size)[0] for size in (20, 7000)
    )
    assert isinstance(few, made)
    assert len(few) == 20 < len(all_of_them) < 7000


def test_text_that_is_tokenised_has_words(corpus, tmp_path):
    source, _ = make(corpus._replace(tokenized=True, identity=None), tmp_path)
    assert isinstance(source, WordVocabulary)
    assert not (tmp_path / "cache").exists()


def test_a_given_file_is_taken_and_must_have_the_size_that_is_said(corpus, tmp_path):
    path = tmp_path / "words"
    path.write_bytes(build_vocabulary(["a b c"]).to_bytes())
    source, _ = make(corpus, tmp_path, src_vocab_file=str(path), src_vocab_size=6)
    assert source == build_vocabulary(["a b c"])
    assert len(make(corpus, tmp_path, src_vocab_file=str(path), src_vocab_size=0)[0]) == 6
    message = r"--src_vocab_size=7 but \S+words has 6 entries; leave --src_vocab_size out or give 6"
    with pytest.raises(UserError, match=message):
        make(corpus, tmp_path, src_vocab_file=str(path), src_vocab_size=7)


def trained(out):
    """Makes the directory look as after a training."""
    (out / "step-1").mkdir()


def test_the_output_directory_keeps_what_its_model_was_trained_with(corpus, tmp_path):
    out = tmp_path / "out"
    first = make(corpus, tmp_path, out)
    assert sorted(path.name for path in out.iterdir()) == [
        "vocabulary.json",
        "vocabulary.source.model",
        "vocabulary.target.model",
    ]
    trained(out)
    later = make(corpus._replace(identity=("changed",)), tmp_path, out)
    assert [v.to_bytes() for v in first] == [v.to_bytes() for v in later]


@pytest.mark.parametrize(
    ("name", "value"), [("src_vocab_size", 50), ("vocab_type", "bpe"), ("joint_vocab", True)]
)
def test_flags_that_want_another_vocabulary_for_a_model_are_refused(corpus, tmp_path, name, value):
    out = tmp_path / "out"
    make(corpus, tmp_path, out)
    trained(out)
    message = rf"--{name}={value} but the model in \S+ was trained with --{name}=.*; give that or"
    with pytest.raises(UserError, match=message):
        make(corpus, tmp_path, out, **{name: value})


def test_what_a_run_without_a_model_left_is_replaced(corpus, tmp_path):
    out = tmp_path / "out"
    make(corpus, tmp_path, out)
    words, _ = make(corpus, tmp_path, out, vocab_type="word", src_vocab_size=50)
    assert isinstance(words, WordVocabulary)
    assert [path.suffix for path in out.glob("vocabulary.source.*")] == [".words"]


def test_files_of_the_user_in_the_output_directory_stay(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "vocabulary.txt").write_text("mine")
    make(corpus, tmp_path, out)
    assert (out / "vocabulary.txt").read_text() == "mine"


@pytest.mark.parametrize("text", ["{", None])
def test_a_checkpoint_whose_flags_cannot_be_read_is_refused(corpus, tmp_path, text):
    out = tmp_path / "out"
    make(corpus, tmp_path, out)
    trained(out)
    path = out / "vocabulary.json"
    path.write_text(text) if text else path.unlink()
    with pytest.raises(UserError, match=r"is damaged; copy it anew|No such file"):
        make(corpus, tmp_path, out)


def test_a_checkpoint_without_its_vocabulary_is_refused(corpus, tmp_path):
    out = tmp_path / "out"
    make(corpus, tmp_path, out)
    trained(out)
    (out / "vocabulary.target.model").unlink()
    with pytest.raises(UserError, match=r"has a model but no vocabulary\.target file; copy"):
        make(corpus, tmp_path, out)


def test_another_vocabulary_for_a_trained_model_is_refused(corpus, tmp_path):
    out = tmp_path / "out"
    make(corpus, tmp_path, out, src_vocab_size=0)
    trained(out)
    path = tmp_path / "words"
    path.write_bytes(build_vocabulary(["a b c"]).to_bytes())
    with pytest.raises(UserError, match=r"--src_vocab_file=\S+ is not \S+, which the model in"):
        make(corpus, tmp_path, out, src_vocab_file=str(path), src_vocab_size=0)


def test_a_damaged_vocabulary_in_the_cache_is_learned_anew(corpus, tmp_path, capsys):
    first = make(corpus, tmp_path)
    for path in (tmp_path / "cache" / "vocabularies").glob("*.model"):
        path.write_bytes(path.read_bytes()[:50])
    again = make(corpus, tmp_path)
    assert [v.to_bytes() for v in first] == [v.to_bytes() for v in again]
    assert capsys.readouterr().out.count("and is made anew") == 2


@pytest.mark.parametrize("total", [0, 5, 10, 19, 20, 21, 1000, 1024])
def test_a_sample_is_evenly_spaced_and_bounded(total):
    found = [int(item) for item in vocabularies.evenly(map(str, range(total)), 10)]
    assert min(total, 10) <= len(found) < 20 or total < 20
    assert len({b - a for a, b in itertools.pairwise(found)}) <= 1


def test_only_a_models_own_vocabularies_go_into_its_checkpoints(corpus, tmp_path):
    make(corpus, tmp_path, tmp_path / "out")
    (tmp_path / "out" / "vocabulary.old").mkdir()
    (tmp_path / "out" / "vocabulary.notes").write_text("mine")
    kept = kept_vocabularies.kept_files(tmp_path / "out")
    assert sorted(kept) == ["vocabulary.json", "vocabulary.source.model", "vocabulary.target.model"]
