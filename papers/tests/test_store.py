"""Results of a long run: kept whole, by name, never mixed with those of other settings."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from halftruth import _storage
from halftruth._errors import InputError
from halftruth_papers.store import CELLS, SETTINGS, Store, in_words


def test_what_is_put_is_found_again_by_another_store_of_the_same_settings(tmp_path: Path) -> None:
    Store(tmp_path, {"repeats": 2, "sizes": (1, 2)}).put("wine-1-0", {"auc": 0.1 + 0.2, "gap": math.inf})
    again = Store(tmp_path, {"sizes": (1, 2), "repeats": 2})
    assert again.get("wine-1-0") == {"auc": 0.1 + 0.2, "gap": math.inf}
    assert again.get("wine-1-1") is None


def test_a_result_is_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path, {})
    store.put("a", {"x": 1})
    store.put("a", {"x": 2})
    assert store.get("a") == {"x": 2}
    assert [path.name for path in store.cells.iterdir()] == ["a.json"]


@pytest.mark.parametrize("text", ["", "{", '{"x": 1', "[1]", "3", "\x00"])
def test_a_damaged_result_is_none(tmp_path: Path, text: str) -> None:
    store = Store(tmp_path, {})
    (store.cells / "a.json").write_text(text)
    assert store.get("a") is None
    store.put("a", {"x": 1})
    assert store.get("a") == {"x": 1}


def test_a_result_of_other_bytes_than_text_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path, {})
    (store.cells / "a.json").write_bytes(b"\xff\xfe\x00")
    assert store.get("a") is None


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    Store(tmp_path, {"quick": True, "n": 3})
    with pytest.raises(
        InputError, match=r"`out` .*a quick run, and this is a full.*another folder, or delete it"
    ):
        Store(tmp_path, {"quick": False, "n": 3})
    assert json.loads((tmp_path / SETTINGS).read_text()) == {"quick": True, "n": 3}


def test_a_setting_that_is_new_is_another_setting(tmp_path: Path) -> None:
    Store(tmp_path, {"n": 3})
    with pytest.raises(InputError, match="a run with more none, and this one has 1"):
        Store(tmp_path, {"n": 3, "more": 1})


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"paper": "claesen", "quick": False}, "a run of claesen"),
        ({"paper": "jain", "quick": True}, "a quick run of jain, and this is a full one"),
        ({"paper": "jain", "quick": False, "halftruth": "0"}, "a run of jain by halftruth 0, and this is 1"),
        ({"paper": "jain", "quick": False, "halftruth": "1", "sizes": {"n": 2}}, "with another sizes"),
        ({"paper": "jain", "quick": False, "halftruth": "1", "sizes": {"n": 1}, "rng": 3}, "with rng 3"),
    ],
)
def test_other_settings_are_told_in_words(there: dict[str, object], said: str) -> None:
    now = {"paper": "jain", "quick": False, "halftruth": "1", "sizes": {"n": 1}, "rng": 0}
    assert said in in_words(there, now)
    assert "{" not in in_words(there, now)


def test_what_is_kept_of_some(tmp_path: Path) -> None:
    store = Store(tmp_path, {})
    store.put("a", {"x": 1})
    assert store.kept(["a", "b"]) == {"a": {"x": 1}}


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_damaged_settings_are_refused(tmp_path: Path, text: str) -> None:
    Store(tmp_path, {"n": 3})
    (tmp_path / SETTINGS).write_text(text)
    with pytest.raises(InputError, match="delete it"):
        Store(tmp_path, {"n": 3})


def test_results_without_settings_are_refused(tmp_path: Path) -> None:
    Store(tmp_path, {"n": 3}).put("a", {})
    (tmp_path / SETTINGS).unlink()
    with pytest.raises(InputError, match="settings are not known"):
        Store(tmp_path, {"n": 3})


@pytest.mark.parametrize("key", ["", "../a", "a/b", ".a", "a b", "a\n", "ä", "a" * 121, "-a"])
def test_a_key_stays_in_its_folder(tmp_path: Path, key: str) -> None:
    store = Store(tmp_path, {})
    with pytest.raises(InputError, match="A key must be"):
        store.put(key, {})
    with pytest.raises(InputError, match="A key must be"):
        store.get(key)


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be used.*another folder"):
        Store(tmp_path / "file", {})


def test_a_write_that_breaks_off_leaves_what_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, {})
    store.put("a", {"x": 1})

    def broken(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_storage.Path, "replace", broken)
        with pytest.raises(KeyboardInterrupt):
            store.put("a", {"x": 2})
    assert store.get("a") == {"x": 1}
    assert [path.name for path in (tmp_path / CELLS).iterdir()] == ["a.json"]
