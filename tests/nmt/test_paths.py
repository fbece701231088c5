import os

import pytest

from nmt import paths


@pytest.mark.parametrize("sign", ["[", "*", "?", "\\"])
def test_names_that_tensorflow_would_not_find_again_are_refused(tmp_path, sign):
    """It writes to the name, but reads what the name matches."""
    path = f"{tmp_path}/a{sign}b]"
    why = f"has {sign} in its name, which TensorFlow takes for a pattern"
    assert paths.unwritable(path) == why
    assert paths.unusable_name(str(tmp_path / "a, b] {c} %é")) == ""


def test_a_name_that_is_no_text_is_refused(tmp_path):
    assert paths.unwritable(f"{tmp_path}/" + os.fsdecode(b"\xff")) == "has a name that is not UTF-8"


def test_a_link_to_itself_is_refused(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert paths.unwritable(str(loop / "run")) == f"cannot be made: {loop} is a file"


def test_what_can_be_made_is_not(tmp_path):
    assert paths.unwritable("") == paths.unwritable(str(tmp_path / "a" / ".." / "b")) == ""
