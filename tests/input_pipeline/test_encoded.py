import numpy as np
import pytest

from input_pipeline import encoded, encoded_files
from input_pipeline.corpus import Block
from input_pipeline.vocabulary import EOS, SPECIAL_WORDS, WordVocabulary, build_vocabulary
from tests.corpora import make_pairs

BLOCKS = [Block(["n0", "n1 x"], ["y", "y y"]), Block(["", "x x x", "x"], ["y", "y", ""])]
VOCABULARIES = (build_vocabulary(["n0 n1 x"]), build_vocabulary(["y"]))


def ids(side):
    return [side.take(s + np.arange(n)).tolist() for s, n in zip(side.starts, side.lengths)]


def written(directory):
    encoded_files.write(BLOCKS, VOCABULARIES, directory)
    return encoded_files.open_pairs(directory, VOCABULARIES)


def test_targets_end_and_sources_do_not():
    pairs = encoded.in_memory(BLOCKS, VOCABULARIES)
    assert ids(pairs.source) == [[3], [4, 5], [], [5, 5, 5], [5]]
    assert ids(pairs.target) == [[3, EOS], [3, 3, EOS], [3, EOS], [3, EOS], [EOS]]


def test_files_hold_what_memory_holds(tmp_path):
    for one, other in zip(written(tmp_path / "a"), encoded.in_memory(BLOCKS, VOCABULARIES)):
        assert ids(one) == ids(other)


def test_large_vocabularies_keep_their_ids(tmp_path):
    words = (*SPECIAL_WORDS, *(f"w{i}" for i in range(70_000)))
    vocabularies = (WordVocabulary(words), VOCABULARIES[1])
    encoded_files.write([Block(["w69999 w1"], ["y"])], vocabularies, tmp_path / "a")
    pairs = encoded_files.open_pairs(tmp_path / "a", vocabularies)
    assert ids(pairs.source) == [[70_002, 4]]


def test_empty_and_over_long_pairs_are_left_out_and_counted():
    chosen = encoded.select(encoded.in_memory(BLOCKS, VOCABULARIES), (2, 3))
    assert (chosen.num_empty, chosen.num_too_long) == (2, 1)
    assert ids(chosen.pairs.source) == [[3], [4, 5]]
    assert encoded.select(encoded.in_memory(BLOCKS, VOCABULARIES), (3, 2)).num_too_long == 1


@pytest.mark.parametrize("name", ["source.ids", "target.lengths", "facts.json"])
def test_damage_is_found(tmp_path, name):
    written(tmp_path / "a")
    path = tmp_path / "a" / name
    whole = path.read_bytes()
    for data in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], None):
        path.write_bytes(data) if data is not None else path.unlink()
        with pytest.raises(encoded_files.Damaged):
            encoded_files.open_pairs(tmp_path / "a", VOCABULARIES)


def test_many_blocks_are_one_corpus(tmp_path):
    pairs = make_pairs(50)
    vocabularies = tuple(build_vocabulary(side) for side in zip(*pairs))
    blocks = [Block([pair.source], [pair.target]) for pair in pairs]
    encoded_files.write(blocks, vocabularies, tmp_path / "a")
    opened = encoded_files.open_pairs(tmp_path / "a", vocabularies)
    assert [vocabularies[0].decode(row) for row in ids(opened.source)] == [p.source for p in pairs]
    assert np.array_equal(opened.target.lengths, [1 + len(p.target.split()) for p in pairs])
