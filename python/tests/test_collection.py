"""Collections from Python: what the program says of the same loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import alike

pa = pytest.importorskip("pyarrow")


def members(of: alike.Collection) -> list[list[str]]:
    return sorted(sorted(cluster["members"]) for cluster in of.clusters())


def test_a_collection_that_changes(records: list[dict[str, Any]], tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "archive")
    table = pa.Table.from_pylist(records)
    report = archive.load(table.slice(0, 200))
    assert (report["added"], report["documents"]) == (200, 200)
    before = archive.log()[0]["commit"]
    archive.load(table.slice(200))
    changes = archive.changes(since=before)
    assert changes and all(change["commit"] > before for change in changes)

    whole = alike.Collection(tmp_path / "whole")
    whole.load(table)
    assert members(archive) == members(whole)
    assert list(archive.pairs()) == list(whole.pairs())

    assert archive.delete(["common/GFDL-1.3"])["removed"] == 1
    assert archive.info()["documents"] == len(list(archive.documents())) == 326
    with pytest.raises(alike.RefusedError, match="nowhere"):
        archive.delete(["nowhere"], strict=True)
    with pytest.raises(alike.UsageError, match="is no id"):
        archive.delete(["a\nb"])
    with pytest.raises(alike.UsageError, match="several ids"):
        archive.delete("12")
    assert archive.check("") == []
    archive.compact()
    assert archive.info()["documents"] == 326


def test_new_texts_are_checked_and_not_loaded(records: list[dict[str, Any]], tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "archive")
    archive.load(pa.Table.from_pylist(records))
    found = archive.check(records[5]["text"])
    assert found[0]["id"] == "common/GFDL-1.3" and found[0]["same_text"]
    rows = archive.check(pa.table({"text": [records[5]["text"], "nothing of the kind"]}))
    assert [len(row["resembles"]) > 0 for row in rows] == [True, False]
    assert archive.info()["documents"] == len(records)


def test_records_that_are_stored(records: list[dict[str, Any]], tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "archive")
    table = pa.Table.from_pylist([{"key": r["id"], "body": r["text"]} for r in records])
    archive.load(table.slice(0, 300), text="body", id="key", store_text=True)
    archive.load(table.slice(300))
    assert archive.info()["documents"] == len(records)
    assert archive.explain("common/GFDL-1.3", "common/GFDL-1.2")["answer"] == "together"


def test_a_collection_needs_ids_and_its_column(tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "archive")
    with pytest.raises(alike.UsageError, match="no column 'id' for id='id'"):
        archive.load(pa.table({"text": ["a b c d e f"]}))
    with pytest.raises(alike.UsageError, match="no column 'text'"):
        archive.load(pa.table({"id": ["a"], "body": ["a b c d e f"]}))
    # The program leaves the lock that it took.
    assert [path.name for path in tmp_path.glob("archive/*")] in ([], ["lock"])


def test_a_collection_is_what_new_rows_are_held_against(records: list[dict[str, Any]], tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "archive")
    archive.load(pa.Table.from_pylist(records[:100]))
    found = alike.dedup(pa.Table.from_pylist(records[100:]), against={"archive": archive})
    assert {row["against_set"] for row in found.removed.to_dicts()} == {None, "archive"}


def test_reports(records: list[dict[str, Any]], tmp_path: Path) -> None:
    table = pa.Table.from_pylist(records)
    archive = alike.Collection(tmp_path / "archive")
    archive.load(table)
    for page in (archive.report(tmp_path / "a.html"), alike.dedup(table).report(tmp_path / "b.html")):
        assert "</html>" in page.read_text(encoding="utf-8")


def test_methods_are_measured(records: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(records)
    labels = [("common/GFDL-1.2", "common/GFDL-1.3", 1), ("common/GFDL-1.2", "common/CC0-1.0", 0)]
    told = alike.evaluate(table, labels)
    assert told["labels"] is not None and told["rows"][0]["name"] == "join"
    frame = pa.table({"id_a": ["common/GFDL-1.2"], "id_b": ["common/GFDL-1.3"], "grade": [1]})
    assert alike.evaluate(table, frame)["labels"] is not None
    with pytest.raises(alike.UsageError, match="a label is two ids and 1 or 0"):
        alike.evaluate(table, [("a", "b")])
    at = alike.tune(table, threshold=(0.1 + 0.2, 0.8))["thresholds"]
    assert [one["threshold"] for one in at] == [0.3, 0.8]
    sizes = alike.tune(table, labels)
    assert sizes["labels"] is not None
    with pytest.raises(alike.UsageError, match="leave threshold out"):
        alike.tune(table, labels, threshold=0.8)


def test_an_interrupted_load_of_a_table_goes_on_or_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{at} " + " ".join(str(at * 31 + word) for word in range(100)) for at in range(20000)]
    table = pa.table({"id": [str(at) for at in range(20000)], "text": texts})
    archive = alike.Collection(tmp_path / "archive")
    how: dict[str, Any] = {"epoch": "256K", "memory": "256M", "workers": 1}
    begin = archive.load(table.slice(0, 10))
    assert begin["added"] == 10
    # The program ends in the middle, as it does after Ctrl-C: with a checkpoint.
    stop = tmp_path / "stop"
    stop.write_text(
        f"#!/bin/sh\n[ $1 = load ] || exec {alike.program()} \"$@\"\n{alike.program()} \"$@\" &\nchild=$!\n"
        f"while ! ls {archive.path}/checkpoint-* > /dev/null 2>&1; do kill -0 $child || break; sleep 0.01; done\n"
        "kill -TERM $child; wait $child; exit 1\n"
    )
    stop.chmod(0o755)
    with monkeypatch.context() as context:
        context.setenv("ALIKE_PROGRAM", str(stop))
        alike.program.cache_clear()
        # Whoever holds the error, as an interpreter does, holds nothing that is in the way.
        with pytest.raises(alike.AlikeError) as stopped:
            archive.load(table, **how)
    alike.program.cache_clear()
    assert stopped.value.__traceback__ is not None
    with pytest.raises(alike.StateError, match="`alike load .* --abandon`"):
        archive.load(table.slice(5), **how)
    assert archive.load(table, **how)["documents"] == 20000


def test_records_that_are_stored_have_texts_and_ids(tmp_path: Path) -> None:
    texts, ids = ["one two three", "one two three"], ["a", "b"]
    wrong = {
        "'text' has the type Binary": {"id": ids, "text": [text.encode() for text in texts]},
        "'id' has the type Float64": {"id": [1.5, 2.5], "text": texts},
        "'id' has the type Binary": {"id": [one.encode() for one in ids], "text": texts},
    }
    for told, columns in wrong.items():
        with pytest.raises(alike.UsageError, match=told):
            alike.Collection(tmp_path / "stored").load(pa.table(columns), store_text=True)


def test_rows_that_only_delete_need_no_text(records: list[dict[str, Any]], tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "stored")
    archive.load(pa.Table.from_pylist(records), store_text=True)
    assert archive.load(pa.table({"id": [records[0]["id"]], "op": ["delete"]}))["removed"] == 1


def test_each_row_that_is_checked_has_an_answer(tmp_path: Path) -> None:
    archive = alike.Collection(tmp_path / "archive")
    text = "the cat sat on the mat today"
    archive.load(pa.table({"key": ["a"], "body": [text]}), id="key", text="body")
    rows = pa.table({"body": [text] * 19 + [None], "id": [1.5] * 20})
    with pytest.warns(alike.AlikeWarning, match="1 rows have no text"):
        answers = archive.check(rows)
    assert [len(answer["resembles"]) for answer in answers] == [1] * 19 + [0]
    assert archive.check("BZh91AY&SY is how files of bzip2 begin") == []
    assert archive.check(text)[0]["id"] == "a"
