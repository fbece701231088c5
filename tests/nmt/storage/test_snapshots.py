import json
import os

import pytest

from nmt.errors import UserError
from nmt.storage import snapshots


def put(root, step, **files):
    def fill(place):
        for name, text in (files or {"weights": f"of {step}"}).items():
            (place / name).write_text(text)

    return snapshots.write(root, step, fill)


def names(root):
    return sorted(path.name for path in root.iterdir())


def test_a_checkpoint_is_named_after_its_step_and_knows_its_files(tmp_path):
    path = put(tmp_path / "new", 12, weights="w", config="c")
    assert path == tmp_path / "new" / "step-12"
    assert names(path) == ["config", "manifest.json", "weights"]
    assert snapshots.damage(path) is None


def test_the_newest_comes_first_by_number_and_other_names_do_not_count(tmp_path):
    for step in (9, 100, 20):
        put(tmp_path, step)
    for name in ("step-x", "step-", "step-7.part", "step-8.damaged", "steps-3"):
        (tmp_path / name).mkdir()
    found = snapshots.newest_first(tmp_path)
    assert [path.name for path in found] == ["step-100", "step-20", "step-9"]


def test_what_fails_half_way_leaves_nothing_behind(tmp_path):
    def fill(place):
        (place / "weights").write_text("half")
        raise OSError(28, "No space left on device")

    put(tmp_path, 1)
    with pytest.raises(OSError, match="No space"):
        snapshots.write(tmp_path, 2, fill)
    assert names(tmp_path) == ["step-1"]
    assert snapshots.damage(tmp_path / "step-1") is None


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: flip(path / "weights"), "weights is not what was written"),
        (lambda path: (path / "weights").write_text(""), "weights is not what was written"),
        (lambda path: (path / "weights").unlink(), "weights: No such file or directory"),
        (lambda path: (path / "manifest.json").unlink(), "manifest.json: No such file"),
        (lambda path: (path / "manifest.json").write_text("{"), "manifest.json cannot be read"),
        (lambda path: (path / "manifest.json").write_text("[]"), "manifest.json cannot be read"),
    ],
)
def test_damage_is_seen_and_named(tmp_path, harm, said):
    path = put(tmp_path, 3)
    harm(path)
    assert snapshots.damage(path).startswith(said)


def test_the_manifest_cannot_lead_elsewhere(tmp_path):
    path = put(tmp_path, 3)
    (tmp_path / "secret").write_text("x")
    (path / "manifest.json").write_text(json.dumps({"../secret": "0"}))
    assert snapshots.damage(path) == "secret: No such file or directory"


def test_as_many_are_kept_as_asked_for_and_the_best_one(tmp_path):
    paths = {step: put(tmp_path, step) for step in (1, 2, 3, 4)}
    (tmp_path / "step-9.part").mkdir()  # of a run that was killed
    snapshots.mark_best(tmp_path, paths[1])
    snapshots.prune(tmp_path, 2)
    assert names(tmp_path) == ["best", "step-1", "step-3", "step-4"]
    assert snapshots.best(tmp_path) == paths[1]
    snapshots.mark_best(tmp_path, paths[4])
    snapshots.prune(tmp_path, 2)
    assert names(tmp_path) == ["best", "step-3", "step-4"]
    assert (tmp_path / "best" / "weights").read_text() == "of 4"


def test_a_best_that_is_gone_is_none(tmp_path):
    assert snapshots.best(tmp_path) is None
    snapshots.mark_best(tmp_path, tmp_path / "step-1")
    assert snapshots.best(tmp_path) is None


def test_writing_a_step_again_sets_the_old_one_aside(tmp_path):
    put(tmp_path, 5, weights="old")
    put(tmp_path, 5, weights="new")
    assert (tmp_path / "step-5" / "weights").read_text() == "new"
    assert (tmp_path / "step-5.damaged" / "weights").read_text() == "old"


def test_a_model_can_be_moved_with_its_best_link(tmp_path):
    put(tmp_path / "a", 5)
    snapshots.mark_best(tmp_path / "a", tmp_path / "a" / "step-5")
    os.rename(tmp_path / "a", tmp_path / "b")
    assert snapshots.best(tmp_path / "b") == tmp_path / "b" / "step-5"


def test_what_was_set_aside_stays(tmp_path):
    for text in ("first", "second", "third"):
        put(tmp_path, 5, weights=text)
    assert names(tmp_path) == ["step-5", "step-5.damaged", "step-5.damaged-2"]
    assert (tmp_path / "step-5.damaged" / "weights").read_text() == "first"
    assert snapshots.newest_first(tmp_path) == [tmp_path / "step-5"]


def test_a_copy_that_followed_the_best_link_gets_a_link_again(tmp_path):
    path = put(tmp_path, 5)
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / "weights").write_text("kept")
    snapshots.mark_best(tmp_path, path)
    assert snapshots.best(tmp_path) == path
    assert (tmp_path / "best.damaged" / "weights").read_text() == "kept"


def test_what_a_killed_run_left_is_removed_before_its_room_is_needed(tmp_path):
    left = tmp_path / "step-7.part"
    left.mkdir()
    (left / "weights").write_text("half")

    def fill(place):
        assert not left.exists()
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        snapshots.write(tmp_path, 9, fill)
    assert names(tmp_path) == []


def test_what_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    path = put(tmp_path, 1)

    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(snapshots, "checksum", refused)
    with pytest.raises(UserError, match="weights cannot be read: Permission denied; put that"):
        snapshots.damage(path)
