"""What goes wrong is an exception that says what to do, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alike
import pytest

pa = pytest.importorskip("pyarrow")


def refused(data: Any, kind: type[BaseException], says: str, **how: Any) -> None:
    with pytest.raises(kind, match=says) as raised:
        alike.dedup(data, **how)
    # The frames of the exception hold the folder.
    del raised


def test_what_is_no_table(left: Any) -> None:
    refused(3, alike.UsageError, "int is no path and no table: give a path")
    refused([{"text": "a"}], alike.UsageError, "list is no path and no table")
    refused("no/such/file.jsonl", alike.RefusedError, "no such file or folder")
    assert left() == []


def test_columns(left: Any) -> None:
    refused(pa.table({"a": ["x"]}), alike.UsageError, "no column 'text' for text='text'; the columns are: a")
    refused(pa.table({"a": ["x"]}), alike.UsageError, "no column 'b' for id='b'", text="a", id="b")
    refused(pa.table({"text": [1, 2]}), alike.RefusedError, "the table, row 0: the field text is a number, expected a string")
    refused(pa.table({"text": ["a", None]}), alike.RefusedError, "max_rejected allows more.*row 1: the field text is null")
    assert left() == []


def test_rows_without_texts_are_kept_or_told() -> None:
    table = pa.table({"text": ["a b c", None, "a b c"]})
    kept = alike.dedup(table, missing_text="keep")
    assert kept.kept.to_dicts() == [{"text": "a b c"}, {"text": None}]
    told = alike.dedup(table, max_rejected=100)
    assert told.kept.to_dicts() == [{"text": "a b c"}]
    assert [row["row"] for row in told.refused.to_dicts()] == [1]


def test_no_rows() -> None:
    with pytest.warns(alike.AlikeWarning, match="no documents"):
        found = alike.dedup(pa.table({"text": pa.array([], pa.string())}))
    assert (len(found.kept), len(found.removed), len(found.pairs)) == (0, 0, 0)
    assert found.kept.columns == ["text"] and pa.table(found.kept).num_rows == 0


def test_options(left: Any) -> None:
    refused(pa.table({"text": ["a"]}), alike.UsageError, "unexpected argument '?nonsense", nonsense=1)
    refused(pa.table({"text": ["a"]}), alike.UsageError, "threshold", threshold=3)
    assert left() == []


def test_an_output_that_exists(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    refused("samples/licences.jsonl", alike.UsageError, "out", out=tmp_path / "out")
    found = alike.dedup("samples/licences.jsonl", out=tmp_path / "new", pairs=True)
    assert (tmp_path / "new" / "kept" / "licences.jsonl").exists()
    with pytest.raises(alike.UsageError, match="to='parquet'"):
        _ = found.kept
    table = alike.dedup("samples/licences.jsonl", out=tmp_path / "table", to="parquet")
    assert len(table.kept) == 129


def test_a_stream_that_breaks(left: Any) -> None:
    schema = pa.schema([("text", pa.string())])

    def batches() -> Iterator[Any]:
        yield pa.record_batch([pa.array(["a"])], schema=schema)
        raise RuntimeError("the source is gone")

    refused(pa.RecordBatchReader.from_batches(schema, batches()), alike.UsageError, "the source is gone")
    assert left() == []


def test_a_program_that_is_killed(left: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -9 $$\n")
    dying.chmod(0o755)
    monkeypatch.setattr("alike._program.program", lambda: str(dying))
    refused(pa.table({"text": ["a"]}), alike.KilledError, "ended by SIGKILL; if the machine was out of memory, memory='2G'")
    monkeypatch.setattr("alike._program.program", lambda: str(tmp_path / "none"))
    refused(pa.table({"text": ["a"]}), alike.FailedError, "cannot be started")
    assert left() == []


def test_errors_are_those_of_python_too() -> None:
    assert issubclass(alike.UsageError, ValueError) and issubclass(alike.FailedError, OSError)
    with pytest.raises(alike.StateError, match="is no collection"):
        alike.Collection("samples").info()


LONG = textwrap.dedent(
    """
    import pyarrow, alike
    words = [" ".join(f"w{(i * j) % 99991}" for j in range(1, 200)) for i in range(60_000)]
    print("ready", flush=True)
    alike.dedup(pyarrow.table({"text": words}), workers=1, threshold=0.3)
    """
)


def begun(tmp_path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    for _ in range(600):
        if any(path.glob(".out-1.partial*") or (path / "rows.arrow").exists() for path in tmp_path.glob("alike-python-*")):
            break
        time.sleep(0.02)
    time.sleep(0.3)
    return child


def test_ctrl_c_ends_the_work(tmp_path: Path, left: Any) -> None:
    child = begun(tmp_path)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert left() == []


def test_what_a_killed_python_left_goes_with_the_next_run(tmp_path: Path, left: Any) -> None:
    child = begun(tmp_path)
    children = Path(f"/proc/{child.pid}/task/{child.pid}/children")
    programs = children.read_text().split() if children.exists() else []
    child.kill()
    child.communicate()
    for program in programs:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(program), signal.SIGKILL)
    assert left() != []
    alike.dedup(pa.table({"text": ["a"]}))
    assert [name for name in left() if name.startswith("alike-python-")] == []
