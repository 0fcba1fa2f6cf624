"""What goes wrong is an exception that says what to do, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import alike

pa = pytest.importorskip("pyarrow")


def refused(data: Any, kind: type[BaseException], says: str, **how: Any) -> None:
    with pytest.raises(kind, match=says) as raised:
        alike.dedup(data, **how)
    # The frames of the exception hold the folder.
    del raised


def test_what_is_no_table(left: Any) -> None:
    refused(3, alike.UsageError, "builtins.int is no path and no table: give a path")
    refused([{"text": "a"}], alike.UsageError, "list is no path and no table")
    refused("no/such/my--file.jsonl", alike.MissingError, "no/such/my--file.jsonl: no such file or folder")
    assert issubclass(alike.MissingError, FileNotFoundError) and issubclass(alike.MissingError, alike.RefusedError)
    refused(pa.table({"text": ["a"]})["text"], alike.UsageError, "a column alone is no table")
    assert left() == []


def test_columns(left: Any) -> None:
    refused(pa.table({"a": ["x"]}), alike.UsageError, "no column 'text' for text='text'; the columns are: a")
    refused(pa.table({"a": ["x"]}), alike.UsageError, "no column 'b' for id='b'", text="a", id="b")
    refused(pa.table({"text": [1, 2]}), alike.RefusedError, "the table, row 0: the field text is a number, expected a string")
    refused(pa.table({"text": ["a", None]}), alike.RefusedError, "max_rejected allows more.*row 1: the field text is null")
    table = pa.table({"text": ["a"], "id": [1.5]})
    refused(table, alike.UsageError, "'id' has the type Float64: ids are texts or whole numbers")
    refused(table, alike.UsageError, "no column 'langg' for within='langg'", within="langg", id="text")
    refused(table, alike.UsageError, "text is the name of one column", text=["a", "b"])
    assert left() == []


def test_rows_without_texts_are_kept_or_told() -> None:
    table = pa.table({"text": ["a b c", None, "a b c"]})
    kept = alike.dedup(table, missing_text="keep")
    assert kept.kept.to_dicts() == [{"text": "a b c"}, {"text": None}]
    with pytest.warns(alike.AlikeWarning, match="1 rows were refused.*row 1") as warned:
        told = alike.dedup(table, max_rejected=100)
    assert warned[0].filename == __file__ and "1 refused>" in repr(told)
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
    refused(pa.table({"text": ["a"]}), alike.UsageError, "dry_run is for the command line", dry_run=True)
    with pytest.raises(alike.UsageError, match="seed"):
        alike.split(pa.table({"text": ["a"]}), seed=-1)
    with pytest.raises(alike.UsageError, match="hold its parts against others"):
        alike.split(pa.table({"text": ["a"]}), against="b.jsonl")
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

    refused(pa.RecordBatchReader.from_batches(schema, batches()), alike.FailedError, "the source is gone")
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
        if any(any(path.glob(".out-*.partial*")) for path in tmp_path.glob("alike-python-*")):
            break
        time.sleep(0.02)
    time.sleep(0.3)
    return child


def programs_of(python: subprocess.Popen[str]) -> list[int]:
    threads = Path(f"/proc/{python.pid}/task").iterdir()
    return [int(program) for thread in threads for program in (thread / "children").read_text().split()]


def test_ctrl_c_in_a_source_of_rows_is_ctrl_c(left: Any) -> None:
    schema = pa.schema([("text", pa.string())])

    def batches() -> Iterator[Any]:
        yield pa.record_batch([pa.array(["a"])], schema=schema)
        raise KeyboardInterrupt

    refused(pa.RecordBatchReader.from_batches(schema, batches()), KeyboardInterrupt, "^$")
    assert left() == []


def test_ctrl_c_ends_the_work(tmp_path: Path, left: Any) -> None:
    child = begun(tmp_path)
    programs = programs_of(child)
    assert len(programs) == 1
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert not Path(f"/proc/{programs[0]}").exists()
    assert left() == []


def test_what_a_killed_python_left_goes_with_the_next_run(tmp_path: Path, left: Any) -> None:
    child = begun(tmp_path)
    programs = programs_of(child)
    child.kill()
    # The program goes on without it, and nobody takes its folder away.
    alike.dedup(pa.table({"text": ["a"]}))
    assert len(left()) == 1
    for program in programs:
        with contextlib.suppress(ProcessLookupError):
            os.kill(program, signal.SIGKILL)
    child.communicate()
    # The lock goes with the last of the program.
    for _ in range(100):
        alike.dedup(pa.table({"text": ["a"]}))
        if left() == []:
            return
        time.sleep(0.1)
    pytest.fail(f"the folder is still there: {left()}")


def test_what_runs_again_looks_at_the_same_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"text": "a b c"}\n' * 3)
    found = alike.dedup("a.jsonl")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(found.pairs) == 2
    (tmp_path / "a.jsonl").write_text('{"text": "a b c"}\n' * 4)
    with pytest.raises(alike.StateError, match="the inputs changed"):
        found.rethreshold(0.9)


def test_a_result_is_of_one_process() -> None:
    found = alike.dedup(pa.table({"text": ["a b c", "a b c"]}))
    with pytest.raises(TypeError, match=r"hand over its tables, like kept.to_arrow\(\)"):
        pickle.dumps(found)
    global _found
    _found = found
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(_removed, range(6), chunksize=1) == [1] * 6
    assert _removed(0) == 1


_found: Any = None


def _removed(_: int) -> int:
    return len(_found.rethreshold(0.9).removed)


def test_what_no_program_takes_is_an_error_of_ours(tmp_path: Path) -> None:
    found = alike.dedup(pa.table({"text": ["a b c", "a b c"]}))
    wrong: list[Any] = [
        lambda: alike.dedup("a\0b"),
        lambda: alike.dedup("\ud800"),
        lambda: alike.dedup(["x"], method="\0"),
        lambda: alike.dedup(["x"], threshold=1 + 2j),
        lambda: alike.dedup(["x"], threshold=0.9999999),
        lambda: alike.dedup(["x"], keep=[1]),
        lambda: alike.dedup(["x"], out=3),
        lambda: found.explain("x", rows=True),
        lambda: alike.Collection(tmp_path / "c").delete(["\ud800"]),
        lambda: alike.dedup(pa.table({"text": ["a"]}), against={"a=b": pa.table({"text": ["a"]})}),
    ]
    for at, call in enumerate(wrong):
        with pytest.raises(alike.UsageError):
            pytest.fail(f"{at}: {call()}")


def test_only_an_interrupt_is_one() -> None:
    def rows() -> Any:
        yield pa.record_batch({"text": ["a b c"]})
        raise ValueError("no KeyboardInterrupt here")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), rows())
    with pytest.raises(alike.FailedError, match="no KeyboardInterrupt here"):
        alike.dedup(reader)
