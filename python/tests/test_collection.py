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
