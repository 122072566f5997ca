"""Data sets of the papers in a folder: found, checked, refused; and what the paper reports of them."""

import hashlib
import json

import numpy as np
import pytest

from halftruth._errors import InputError
from halftruth_papers.datasets import covertype, datasets_in
from halftruth_papers.jain.tables import reported
from halftruth_papers.published import COVTYPE, DATASETS

AT_HAND = ["bank", "concrete", "housing", "mushroom", "pendigits", "pima", "shuttle", "wine"]


def write(folder, file, n, n_positive, **arrays):
    y = np.arange(n) < n_positive
    np.savez(folder / file, **({"X": np.arange(2 * n).reshape(n, 2), "y": y} | arrays))
    return folder / file


def published(folder, name, file=None, **arrays):
    dataset = DATASETS[name]
    return write(folder, file or dataset.file, dataset.n, dataset.n_positive, **arrays)


def manifest(folder, **checksums):
    entries = {name: {"file": f"{name}.npz", "sha256": checksum} for name, checksum in checksums.items()}
    (folder / "MANIFEST.json").write_text(json.dumps(entries))


def test_real_files_are_found_whole(data_dir):
    sets = {one.dataset.name: one for one in datasets_in(data_dir)}
    assert [name for name in DATASETS if name in sets] == list(sets)
    for name in AT_HAND:
        one = sets[name]
        assert one.complete
        assert one.x.shape[0] == one.y.shape[0] == one.dataset.n
        assert one.y.sum() == one.dataset.n_positive
        assert (one.x.dtype, one.y.dtype) == (np.float64, np.bool_)
        assert np.isfinite(one.x).all()


def test_without_a_checksum_the_counts_decide(tmp_path):
    published(tmp_path, "spambase")
    (one,) = datasets_in(tmp_path)
    assert (one.dataset.name, one.complete, one.x.shape) == ("spambase", True, (4601, 2))
    assert one.x is one.x, "read once"


@pytest.mark.parametrize(
    ("name", "alias"),
    [("pageblocks", "page_blocks"), ("pageblocks", "pageblock"), ("landsat", "satimage")],
)
def test_other_names_of_a_file(tmp_path, name, alias):
    path = published(tmp_path, name, f"{alias}.npz")
    manifest(tmp_path, **{alias: hashlib.sha256(path.read_bytes()).hexdigest()})
    assert [one.dataset.name for one in datasets_in(tmp_path)] == [name]


def test_checksums_that_the_folder_lists_are_held_to(tmp_path):
    published(tmp_path, "spambase")
    manifest(tmp_path, spambase="0" * 64)
    with pytest.raises(
        InputError, match=rf"spambase\.npz must have the SHA-256 checksum {'0' * 64}, got [0-9a-f]+"
    ):
        datasets_in(tmp_path)


def test_a_changed_file_is_refused_whatever_the_folder_lists(tmp_path):
    path = published(tmp_path, "pima")
    own = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest(tmp_path, pima=own)
    with pytest.raises(InputError, match=f"pima.npz .* {DATASETS['pima'].sha256}, got {own}.*Get it again"):
        datasets_in(tmp_path)


def test_other_counts_are_refused(tmp_path):
    write(tmp_path, "spambase.npz", 4601, 1812)
    with pytest.raises(InputError, match=r"4601 rows, 1813 of them positive \(spam\), got 4601 and 1812"):
        datasets_in(tmp_path)


def test_a_part_is_taken_as_a_part_unless_the_whole_is_there(tmp_path):
    write(tmp_path, "gas_partial.npz", 30, 13)
    (one,) = datasets_in(tmp_path)
    assert (one.dataset.name, one.complete, len(one.y)) == ("gas", False, 30)
    published(tmp_path, "gas")
    (one,) = datasets_in(tmp_path)
    assert (one.complete, len(one.y)) == (True, 5574)


def test_covertype_is_of_another_paper_and_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    assert "covtype" not in DATASETS
    assert covertype() is None
    assert covertype(tmp_path) is None
    write(tmp_path, "covtype_sub.npz", 30, 13)
    with pytest.raises(InputError, match=f"covtype_sub.npz must .* {COVTYPE.partial_sha256}, got"):
        covertype(tmp_path)
    monkeypatch.setenv("HALFTRUTH_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="a folder that exists"):
        covertype()


def test_the_part_of_covertype_at_hand(data_dir):
    one = covertype(data_dir)
    assert (one.dataset, one.complete, one.path.name) == (COVTYPE, False, "covtype_sub.npz")


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    published(tmp_path, "spambase")
    monkeypatch.setenv("HALFTRUTH_DATA", str(tmp_path))
    assert len(datasets_in()) == 1
    monkeypatch.delenv("HALFTRUTH_DATA")
    with pytest.raises(InputError, match="let HALFTRUTH_DATA name the folder"):
        datasets_in()


def test_no_folder_and_no_data_set_in_it(tmp_path):
    with pytest.raises(InputError, match=r"a folder that exists, got .*HALFTRUTH_DATA"):
        datasets_in(tmp_path / "nowhere")
    (tmp_path / "other.npz").touch()
    with pytest.raises(InputError, match=r"got none.*HALFTRUTH_DATA .*bank\.npz"):
        datasets_in(tmp_path)


def test_features_are_read_only_when_asked_for(tmp_path):
    published(tmp_path, "spambase", X=np.zeros((7, 2)))
    (one,) = datasets_in(tmp_path)
    with pytest.raises(InputError, match=r"4601 rows, got shape \(7, 2\)"):
        one.x  # noqa: B018


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([None] * 4601), "cannot be read"),  # would need pickle
        (np.where(np.arange(4601) < 1813, 1, -1), "1 .positive. and 0 .negative. only, got .-1.0, 1.0."),
        (np.full(4601, np.nan), "finite"),
    ],
)
def test_labels_that_are_none(tmp_path, y, message):
    published(tmp_path, "spambase", y=y)
    with pytest.raises(InputError, match=message):
        datasets_in(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 and then nothing"])
def test_broken_files(tmp_path, content):
    (tmp_path / "spambase.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"spambase\.npz must be an \.npz"):
        datasets_in(tmp_path)


def test_an_array_missing_or_alone(tmp_path):
    np.savez(tmp_path / "spambase.npz", X=np.zeros((3, 3)))
    with pytest.raises(InputError, match="y cannot be read"):
        datasets_in(tmp_path)
    np.save(tmp_path / "array.npy", np.zeros(3))
    (tmp_path / "array.npy").rename(tmp_path / "spambase.npz")
    with pytest.raises(InputError, match="y cannot be read"):
        datasets_in(tmp_path)


@pytest.mark.parametrize("content", ["{", "[1, 2]", "3"])
def test_a_broken_list_of_checksums(tmp_path, content):
    published(tmp_path, "spambase")
    (tmp_path / "MANIFEST.json").write_text(content)
    with pytest.raises(InputError, match="JSON object"):
        datasets_in(tmp_path)


def test_tables_of_the_paper_are_whole_and_fit_the_data_sets():
    auc, auc_pr = reported("jain_auc"), reported("jain_auc_pr")
    assert list(auc) == list(auc_pr) == [(name, rho) for name in DATASETS for rho in (1.0, 0.95, 0.75)]
    for (name, rho), row in auc.items():
        dataset = DATASETS[name]
        assert (row["n"], row["n_positive"]) == (dataset.n, dataset.n_positive)
        share = (dataset.n_positive - rho * dataset.n_labeled) / (dataset.n - dataset.n_labeled)
        assert row["alpha"] == pytest.approx(share, abs=6e-4)
        same = ("alpha", "d", "n_positive", "n", "e")
        assert [row[column] for column in same] == [auc_pr[name, rho][column] for column in same]


def test_digits_of_the_tables_agree_with_each_other():
    # PU is the mean difference of the two columns before it: three roundings to three digits.
    for row in reported("jain_auc").values():
        assert row["auc"] - row["auc_pu"] == pytest.approx(row["pu"], abs=1.5e-3 + 1e-9)
    for row in reported("jain_auc_pr").values():
        assert row["auc_pr"] - row["auc_pr_pu"] == pytest.approx(row["pu"], abs=1.5e-3 + 1e-9)


def test_means_of_the_tables_are_those_known():
    def mean(table, column):
        return np.mean([reported(table)[name, 1.0][column] for name in AT_HAND])

    assert mean("jain_auc", "ie") == pytest.approx(0.049, abs=5e-4)
    assert mean("jain_auc_pr", "ie") == pytest.approx(0.194, abs=5e-4)


def test_no_such_table():
    with pytest.raises(InputError, match="'jain_auc' or 'jain_auc_pr'"):
        reported("jain")
