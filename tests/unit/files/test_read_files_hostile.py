"""Hostile and broken files: the right result, or one clear error with file, column and row; nothing runs."""

import gzip
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from halftruth._errors import InputError
from halftruth.files import ExactRows, Source, read
from halftruth.table._groups import STRATA

GOOD = "score,label\n0.5,1\n0.25,0\n0.75,\n"
LIMITS = pytest.mark.parametrize("max_rows", [0, 1000], ids=["histogram", "exact"])


def rows_of(found):
    """How many rows of each stratum were read."""
    if isinstance(found, ExactRows):
        return {name: int((found.stratum == k).sum()) for k, name in enumerate(STRATA)}
    return {name: len(found.strata.get(name, ())) for name in STRATA}


def assert_refused(path, match, **options):
    """The one error, without a trace of the engine's own words for options."""
    with pytest.raises(InputError, match=match) as caught:
        read(path, **{"score": "score", "label": "label", **options})
    text = str(caught.value)
    assert "\n" not in text
    assert "strict_mode" not in text
    assert "LINE 1" not in text
    return text


def wrote(path: Path, content: "str | bytes") -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


NAMES = [
    "it's.csv",
    'say "hi".csv',
    "'; DROP TABLE scores; --.csv",
    "<script>alert(1)<script>.csv",
    "a*.csv",
    "a?.csv",
    "[ab].csv",
    "**.csv",
    "{a,b}.csv",
    "back\\slash.csv",
    "back\\[a]*.csv",
    "~.csv",
    "-.csv",
    "name=1.csv",
    "new\nline.csv",
    "s3:x.csv",
    "%00 ?.csv",
    "ünï.csv",
    os.fsdecode(b"latin\xe9.csv"),
]


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
@LIMITS
def test_a_path_that_exists_is_that_file(tmp_path, name, max_rows):
    for other in ("a.csv", "ab.csv", "b.csv", "axx.csv", "a1.csv"):
        wrote(tmp_path / other, "score,label\nwrong file,1\n")
    folder = tmp_path / "b[1]*"
    folder.mkdir()
    (tmp_path / "b1").mkdir()
    wrote(tmp_path / "b1" / "x.csv", "score,label\nwrong file,1\n")
    for path in (wrote(tmp_path / name, GOOD), wrote(folder / name, GOOD)):
        found = read(path, score="score", label="label", max_rows=max_rows)
        rows = sum(map(len, found.strata.values())) if max_rows == 0 else len(found.stratum)
        assert rows == 3
        bad = wrote(path, "score,label\n0.5,1\nx,1\n")
        message = assert_refused(bad, "'x' in row 2 of ", max_rows=max_rows)
        assert message.isprintable()


@LIMITS
def test_names_of_columns_are_data(tmp_path, max_rows):
    hostile = ['s"; DROP TABLE x; --', "l'<b>a</b>", "w)); ATTACH 'x.db'", "c0", "C0", "select", "filename"]
    cells = ["0.5", "1", "2", "<script>", "'; --", "=1+1", "x"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in hostile)
    csv = wrote(tmp_path / "a.csv", header + "\n" + ",".join(cells) + "\n")
    import json

    jsonl = wrote(tmp_path / "a.jsonl", json.dumps(dict(zip(hostile, cells, strict=True))) + "\n")
    paths = [csv, jsonl]
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [name for name in hostile if name != "C0"]
    pq.write_table(
        pa.table({n: [c] for n, c in zip(hostile, cells, strict=True) if n in names}), tmp_path / "a.parquet"
    )
    paths.append(tmp_path / "a.parquet")
    for path in paths:
        found = read(
            path, score=hostile[0], label=hostile[1], weight=hostile[2], by="select", max_rows=max_rows
        )
        assert list(found) == ["=1+1"]
        assert_refused(path, r"no column 'file_row_number'", score="file_row_number", label=hostile[1])
    assert list(tmp_path.glob("*.db")) == []


def test_a_missing_column_names_those_there_are(tmp_path):
    path = wrote(tmp_path / "a.csv", "Score,lbl,x\n0.5,1,2\n")
    assert "Did you mean 'Score'?" in assert_refused(
        path, r"a\.csv has no column 'score'. Its columns: 'Score', 'lbl', 'x'"
    )
    assert_refused(wrote(tmp_path / "b.csv", "0.5,1\n0.2,0\n"), "The first line must hold the names")
    assert_refused(wrote(tmp_path / "c.csv", "score,score,label\n0.5,1,1\n"), "two columns 'score'")
    assert_refused(wrote(tmp_path / "d.jsonl", '{"a": 1}\n'), "Its columns: 'a'")


BAD_SCORES = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "NA",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "",
    "null",
    "0,5",
    "true",
    "<b>",
    "\uff11",
]


@pytest.mark.parametrize("cell", BAD_SCORES)
@LIMITS
def test_a_score_that_is_no_number_is_refused_with_its_place(tmp_path, cell, max_rows):
    wrote(tmp_path / "a.csv", GOOD)
    wrote(tmp_path / "b.csv", f'score,label\n0.5,1\n0.1,0\n"{cell}",1\nx,1\n')
    shown = repr(cell) if cell else "missing"
    text = assert_refused(tmp_path, r"got 2 in column 'score'", max_rows=max_rows)
    remedy = (
        "Save the file with decimal points, 0.5 for 0,5." if cell == "0,5" else "Drop or repair these rows."
    )
    assert f"the first is {shown} in row 3 of {tmp_path / 'b.csv'}. {remedy}" in text


@LIMITS
def test_numbers_that_are_not_finite_in_parquet(tmp_path, max_rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    score = np.full(400_000, 0.5)
    label = np.ones(len(score))
    score[[300_001, 399_000]] = np.nan
    pq.write_table(pa.table({"score": score, "label": label}), tmp_path / "a.parquet", row_group_size=50_000)
    limit = max_rows * 1000
    assert_refused(tmp_path / "a.parquet", "got 2 in column 'score'.* 'nan' in row 300002 of", max_rows=limit)
    score[300_001], score[399_000], label[123_456] = np.inf, 0.5, 3
    pq.write_table(pa.table({"score": score, "label": label}), tmp_path / "a.parquet", row_group_size=50_000)
    assert_refused(tmp_path / "a.parquet", "got 1 in column 'score'.* 'inf' in row 300002 of", max_rows=limit)
    score[300_001] = -7
    pq.write_table(pa.table({"score": score, "label": label}), tmp_path / "a.parquet", row_group_size=50_000)
    assert_refused(
        tmp_path / "a.parquet",
        r"holds 1 label\(s\) outside the code: '3.0'; .* in row 123457",
        max_rows=limit,
    )


@LIMITS
def test_labels_outside_the_code(tmp_path, max_rows):
    labels = ["1", "0", "<script>", "2", "-1", "yes", "'; --", "no", "2"]
    path = wrote(tmp_path / "a.csv", "score,label\n" + "".join(f'0.5,"{x}"\n' for x in labels))
    text = assert_refused(path, r"holds 7 label\(s\) outside the code: ", max_rows=max_rows)
    assert "\"'; --\", '-1', '2', '<script>', 'no', …" in text
    assert "the first is '<script>' in row 3 of" in text
    path = wrote(tmp_path / "a.csv", "score,label\n0.5,-1\n0.5,1\n")
    assert_refused(path, "name another code for unlabeled rows", max_rows=max_rows)
    found = read(path, score="score", label="label", unlabeled=-1, max_rows=max_rows)
    assert rows_of(found)["unlabeled"] >= 1


@pytest.mark.parametrize("cell", ["-1", "nan", "inf", "", "x"])
@LIMITS
def test_weights_that_are_none(tmp_path, cell, max_rows):
    path = wrote(tmp_path / "a.csv", f"score,label,w\n0.5,1,1\n0.5,0,{cell}\n")
    assert_refused(path, r"Weights .* got 1 in column 'w'.*row 2 of .*a\.csv", weight="w", max_rows=max_rows)


BROKEN = {
    "empty.csv": ("", "is empty"),
    "empty.parquet": ("", "is empty"),
    "blank.csv": ("\n\n  \n", "has no header"),
    "header.csv": ("score,label\n", "has no rows"),
    "header2.csv": ("score,label", "has no rows"),
    "short.csv": ("score,label\n0.5,1\n0.25\n0.1,0\n", r"has 1 field\(s\) in line 3, but 2 in its header"),
    "long.csv": ("score,label\n0.5,1\n0.25,1,0\n", r"has 3 field\(s\) in line 3, but 2"),
    "quote.csv": ('score,label\n"0.5,1\n0.25,1\n', "quoted field in line 2"),
    "latin.csv": (b"id,score,label\nx,1,1\n\xe9\xff,0.5,1\n", "not text in UTF-8"),
    "utf16.csv": ("score,label\n0.5,1\n".encode("utf-16"), "not text in UTF-8"),
    "garbage.csv": (bytes(range(256)) * 50, "not text in UTF-8"),
    "garbage2.csv": (bytes(range(1, 256)) * 50, "garbage2.csv"),
    "cut.csv.gz": (
        gzip.compress(("score,label\n" + "0.123,1\n" * 10**5).encode())[:-400],
        "cut short or damaged",
    ),
    "cut2.csv.gz": (gzip.compress(GOOD.encode())[:15], "cut short or damaged"),
    "not.csv.gz": (b"\x1f\x8b" + bytes(range(99)), "damaged"),
    "not.csv.zst": (b"\x28\xb5\x2f\xfd" + bytes(range(99)), "damaged"),
    "not.parquet": ("score,label\n0.5,1\n", "no readable Parquet file"),
    "cut.parquet": (b"PAR1" + bytes(200), "no readable Parquet file"),
    "tiny.parquet": (b"PAR1", "no readable Parquet file"),
    "not.arrow": ("score,label\n0.5,1\n", "no readable Arrow file"),
    "cut.arrow": (b"ARROW1" + bytes(200), "no readable Arrow file"),
    "cut.jsonl": ('{"score": 0.5, "label": 1}\n{"score": 0.5, "la', "not JSON"),
    "list.jsonl": ("1\n2\n", "no column 'score'"),
    "mixed.jsonl": ('{"score": 0.5, "label": 1}\n3\n', "no JSON object"),
    "nest.jsonl": ('{"score": {"a": 1}, "label": 1}\n', "Scores must be finite numbers"),
}


@pytest.mark.parametrize("name", BROKEN)
@LIMITS
def test_broken_files_are_named(tmp_path, name, max_rows):
    content, match = BROKEN[name]
    path = wrote(tmp_path / name, content)
    assert str(path) in assert_refused(path, match, max_rows=max_rows)
    wrote(tmp_path / "0.csv", GOOD)
    if "has no rows" not in match:
        assert name in assert_refused(tmp_path, match, max_rows=max_rows)


FINE = {
    "bom.csv": b"\xef\xbb\xbf" + GOOD.encode(),
    "crlf.csv": GOOD.replace("\n", "\r\n"),
    "semicolon.csv": GOOD.replace(",", ";"),
    "pipe.csv": GOOD.replace(",", "|"),
    "tabs.csv": GOOD.replace(",", "\t"),
    "comma.tsv": GOOD,
    "no-newline.csv": GOOD.rstrip("\n").replace("0.75,", "0.75,NA"),
    "blank-lines.csv": "\n\n" + GOOD.replace("\n", "\n\n"),
    "quoted.csv": 'a,"score","label"\n"line\nbreak, ""x""",0.5,1\n,"0.25",0\n5" pipe,0.75,""\n',
    "header.csv": '"a\nb",score,label\nx,0.5,1\nx,0.25,0\nx,0.75,\n',
    "index.csv": ",score,label\n0,0.5,1\n1,0.25,0\n2,0.75,\n",
    "twice.csv": "x,X,x,score,label\n1,1,1,0.5,1\n1,1,1,0.25,0\n1,1,1,0.75,\n",
    "commas-inside.csv": "a,b,c,d;score;label\nx;0.5;1\nx;0.25;0\nx;0.75;\n",
    "unknown.dat": GOOD,
    "really-gzip.csv": gzip.compress(GOOD.encode()),
    "array.json": '[{"score": 0.5, "label": 1}, {"score": 0.25, "label": 0}, {"score": 0.75}]',
    "pretty.json": '{\n "score": 0.5,\n "label": 1}\n{"score": 0.25,\n "label": 0}\n{"score": 0.75}',
    "case.jsonl": '{"score": 0.5, "Score": 9, "label": 1}\n{"score": 0.25, "label": 0}\n{"score": 0.75}\n',
    "late.jsonl": '{"score": 0.5, "label": 1}\n{"score": 0.25, "label": 0}\n{"score": 0.75, "": {"a": [1]}}\n',
}


@pytest.mark.parametrize("name", FINE)
def test_odd_files_are_read(tmp_path, name):
    found = read(wrote(tmp_path / name, FINE[name]), score="score", label="label")
    assert found.scores["score"].tolist() == [0.5, 0.25, 0.75]
    assert found.stratum.tolist() == [0, 2, 1]


def test_a_key_of_json_may_come_late(tmp_path):
    path = wrote(tmp_path / "a.jsonl", '{"score": 0.5}\n' * 5000 + '{"score": 0.5, "label": 1}\n')
    assert np.bincount(read(path, score="score", label="label").stratum).tolist() == [1, 5000]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@LIMITS
def test_ten_megabytes_in_one_cell(tmp_path, kind, max_rows):
    cell = "x" * 10_000_000
    content = f'other,score,label\n{cell},0.5,1\n"{cell}",0.25,0\n'
    if kind == "jsonl":
        content = f'{{"other": "{cell}", "score": 0.5, "label": 1}}\n{{"score": 0.25, "label": 0}}\n'
    path = wrote(tmp_path / f"a.{kind}", content)
    found = read(path, score="score", label="label", max_rows=max_rows)
    assert rows_of(found) == {"positive": 1, "unlabeled": 0, "negative": 1}
    message = assert_refused(path, "got [12] in column 'other'", score="other", max_rows=max_rows)
    assert len(message) < 400


def test_a_row_beyond_all_measure_is_a_clear_error(tmp_path):
    cell = "x" * 40_000_000
    assert_refused(wrote(tmp_path / "a.csv", f"other,score,label\n{cell},0.5,1\n"), "above 32 MB")


def test_quoted_newlines_in_a_large_file_are_read_in_parallel(tmp_path):
    score = np.random.default_rng(1).random(40_000)
    lines = "a,\n" * 300
    text = "".join(f'"{lines}",{x},1\n' for x in score.tolist())
    path = wrote(tmp_path / "a.csv", "other,score,label\n" + text)
    assert np.array_equal(read(path, score="score", label="label").scores["score"], score)


@pytest.mark.parametrize(
    "path",
    ["http://x.org/a.csv", "HTTPS://x.org/a.parquet", "s3://b/a.csv", "file:///etc/passwd", "hf://d/a.csv"],
)
def test_addresses_are_refused(path):
    assert_refused(path, "only local files are read")
    assert_refused([path], "only local files are read")


def test_paths_that_lead_nowhere(tmp_path):
    assert_refused(tmp_path / "none.csv", r"none\.csv is no file and no directory")
    assert_refused(str(tmp_path / "*.csv"), "matches none")
    assert_refused(tmp_path, "holds no file with a known suffix")
    assert_refused([], "at least one file")
    assert_refused("a\0b.csv", "is no file")
    assert_refused("x" * 5000, "cannot be opened|is no file")
    assert_refused(3, "must be a file, a glob, a directory")
    assert_refused([b"a.csv"], "must be a file, a glob, a directory")


@pytest.mark.parametrize(
    "options", [{"score": 3}, {"score": []}, {"score": ["a", "a"]}, {"label": None}, {"weight": 1}]
)
def test_names_that_are_none(tmp_path, options):
    assert_refused(wrote(tmp_path / "a.csv", GOOD), "must (be the name|name at least)", **options)


@pytest.mark.parametrize(
    "options", [{"unlabeled": 1}, {"unlabeled": "x"}, {"max_rows": -1}, {"grid": "margin"}]
)
def test_options_out_of_range(tmp_path, options):
    assert_refused(wrote(tmp_path / "a.csv", GOOD), "must", **options)


def test_the_engine_reaches_its_files_and_nothing_else(tmp_path):
    secret = wrote(tmp_path / "secret.csv", GOOD)
    (tmp_path / "in").mkdir()
    path = wrote(tmp_path / "in" / "a.csv", GOOD)
    frame = {"x": np.arange(3)}
    with Source(path) as source:
        for sql in (
            f"SELECT * FROM '{secret}'",
            f"SELECT * FROM read_text('{secret}')",
            f"SELECT * FROM glob('{tmp_path}/*')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/out.db'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SELECT * FROM read_csv('http://localhost:1/a.csv')",
            "SELECT * FROM frame",
            "SET enable_external_access = true",
            "SET python_enable_replacements = true",
            "SELECT getenv('HOME')",
        ):
            with pytest.raises(InputError):
                source.fetch(sql)
    assert len(frame) == 1
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.csv", "in", "secret.csv"]


def test_nothing_is_left_behind_by_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "data").mkdir()
    assert_refused(wrote(tmp_path / "data" / "back\\.csv", "score,label\nx,1\n"), "row 1")
    assert [p.name for p in tmp_path.iterdir()] == ["data"]
    threads = [t.name for t in threading.enumerate()]
    assert not any(name.startswith("halftruth") for name in threads)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("while_doing", ["query", "stdin"])
def test_an_interrupt_passes_through_and_leaves_nothing(tmp_path, while_doing):
    query = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from halftruth.files import Source
try:
    with Source({"'-'" if while_doing == "stdin" else repr(str(wrote(tmp_path / "a.csv", GOOD)))}) as source:
        print("ready", flush=True)
        source.fetch("SELECT sum(sqrt(i * j)) AS x FROM range(1000000) a(i), range(1000000) b(j)")
except KeyboardInterrupt:
    sys.exit(130)
"""
    spool = tmp_path / "tmp"
    spool.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", query],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"TMPDIR": str(spool)},
    )
    if while_doing == "query":
        child.stdout.readline()
    deadline = time.monotonic() + 20
    while not list(spool.glob("halftruth-*/*" if while_doing == "stdin" else "halftruth-*")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 130
    child.stdin.close()
    child.stdout.close()
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_named_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(GOOD,))
    writer.start()
    found = read(pipe, score="score", label="label")
    writer.join()
    assert found.stratum.tolist() == [0, 2, 1]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_file_that_may_not_be_read():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = wrote(Path(folder, "a.csv"), GOOD)
        path.chmod(0)
        child = os.fork()
        if child == 0:  # root may read everything, so it becomes nobody
            failed = 1
            try:
                if os.geteuid() == 0:
                    os.setuid(65534)
                assert_refused(path, "cannot be opened: Permission denied")
                failed = 0
            finally:
                os._exit(failed)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("before", [1, 3])
def test_broken_json_is_named_by_its_line(tmp_path, before):
    good = '{"score": 0.5, "label": 1}\n'
    path = wrote(tmp_path / "a.jsonl", good * before + '{"score": 0.5, "lab\n' + good)
    assert_refused(path, f"not JSON in line {before + 1}")
