import gzip

import pytest

from input_pipeline import text_files
from input_pipeline.corpus import BLOCK_LINES, Block
from nmt.errors import UserError


def write(path, data):
    path.write_bytes(data)
    return path


def lines(path):
    return [line for block in text_files.read_blocks(path) for line in block]


def pairs(source, target):
    return list(text_files.read_file_pair(source, target))


def test_plain_and_gzipped_files_read_alike_whatever_their_name(tmp_path):
    data = "ä b\n\nc\n".encode()
    assert lines(write(tmp_path / "a", data)) == ["ä b", "", "c"]
    assert lines(write(tmp_path / "a.gz", gzip.compress(data))) == ["ä b", "", "c"]
    assert lines(write(tmp_path / "b", gzip.compress(data))) == ["ä b", "", "c"]


def test_windows_line_ends_a_byte_order_mark_and_a_last_line_without_end(tmp_path):
    assert lines(write(tmp_path / "a", b"\xef\xbb\xbfa b\r\nc\r\nd")) == ["a b", "c", "d"]


def test_only_newlines_end_a_line(tmp_path):
    text = "a\u2028b\x0bc\x85d\n"
    assert lines(write(tmp_path / "a", text.encode())) == ["a\u2028b\x0bc\x85d"]


def test_blocks_are_bounded(tmp_path):
    path = write(tmp_path / "a", b"x\n" * (2 * BLOCK_LINES + 1))
    assert [len(block) for block in text_files.read_blocks(path)] == [BLOCK_LINES, BLOCK_LINES, 1]


@pytest.mark.parametrize("lines_before", [0, 2, BLOCK_LINES + 5])
def test_invalid_utf8_is_named_by_line(tmp_path, lines_before):
    path = write(tmp_path / "a", b"x\n" * lines_before + b"\xff\xfe\n")
    with pytest.raises(UserError, match=rf"a is not UTF-8 at line {lines_before + 1:,}: .*iconv"):
        lines(path)


def test_a_nul_byte_is_named_by_line(tmp_path):
    with pytest.raises(UserError, match="NUL byte in line 2;"):
        lines(write(tmp_path / "a", b"x\ny\0z\n"))


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="a is empty; name a file"):
        lines(write(tmp_path / "a", b""))


def test_a_damaged_gzip_file_is_refused(tmp_path):
    whole = gzip.compress(b"some words\n" * 100_000)
    flipped = whole[:-6] + b"\0\0" + whole[-4:]
    for name, data in {"cut": whole[:-20], "flipped": flipped, "not": b"plain text\n"}.items():
        with pytest.raises(UserError, match=rf"{name}.gz is damaged after line .*; copy it anew"):
            lines(write(tmp_path / f"{name}.gz", data))


def test_files_of_different_length_are_refused_with_both_counts(tmp_path):
    source, target = write(tmp_path / "a.en", b"x\n" * 3), write(tmp_path / "a.de", b"y\n" * 2)
    with pytest.raises(UserError, match=r"a\.en has 3 lines, \S*a\.de has 2;"):
        pairs(source, target)
    many = write(tmp_path / "b.en", b"x\n" * (3 * BLOCK_LINES))
    with pytest.raises(UserError, match=rf"b\.en has {3 * BLOCK_LINES:,} lines, \S*a\.de has 2;"):
        pairs(many, target)


def test_pairs_are_matched_by_line(tmp_path):
    source, target = write(tmp_path / "a.en", b"a\nb\n"), write(tmp_path / "a.de", b"c\nd\n")
    assert pairs(source, target) == [Block(["a", "b"], ["c", "d"])]
    assert list(text_files.read_pairs([source, target], [target, source])) == [
        Block(["a", "b"], ["c", "d"]),
        Block(["c", "d"], ["a", "b"]),
    ]


def test_names_are_files_globs_or_a_list(tmp_path):
    for name in ("b.1", "b.0", "a", "with,comma"):
        write(tmp_path / name, b"x\n")

    def found(names):
        return [path.name for path in text_files.expand(names)]

    assert found(f"{tmp_path}/b.*") == ["b.0", "b.1"]
    assert found(f"{tmp_path}/b.*,{tmp_path}/a") == ["b.0", "b.1", "a"]
    assert found(f"{tmp_path}/with,comma") == ["with,comma"]
    assert found(f"{tmp_path}/nothing*") == found("") == []
    assert found(f"{tmp_path}/a, {tmp_path}/b.0") == ["a", "b.0"]
    many = [write(tmp_path / f"{'x' * 30}.{n}", b"x\n") for n in range(20)]
    assert len(found(",".join(map(str, many)))) == 20


def test_a_file_that_was_written_to_has_another_identity(tmp_path):
    path = write(tmp_path / "a", b"x\n")
    before = text_files.identity([path])
    assert text_files.identity([path]) == before
    write(path, b"xy\n")
    assert text_files.identity([path]) != before


def test_a_directory_is_one_line(tmp_path):
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        lines(tmp_path)
