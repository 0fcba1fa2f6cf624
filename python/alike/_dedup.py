"""Deduplication of tables and files, and what was found."""

from __future__ import annotations

import heapq
import html
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._alike import Rows
from ._collection import Collection
from ._data import NUMBER, Given, given, paths_of
from ._errors import RefusedError, StateError, UsageError
from ._program import Option, flags, run, value, warn
from ._table import Table
from ._table import told as read_again
from ._work import Folder


def dedup(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    threshold: float | None = None,
    method: str | None = None,
    keep: str | Sequence[str] | None = None,
    against: Any = None,
    within: str | None = None,
    out: str | os.PathLike[str] | None = None,
    pairs: bool = False,
    progress: bool | None = None,
    **options: Option,
) -> Result:
    """Finds near-duplicates in a table or in files, and keeps one document of each cluster.

    >>> found = alike.dedup("samples/licences.jsonl")
    >>> found.summary["documents"], found.summary["kept"]
    (327, 129)

    `data` is a table of any library with the Arrow PyCapsule interface, or paths: files, folders, globs and URLs.

    `text` and `id` name columns: "text" and "id" unless they are given. Rows of a table without a column of ids are known by
    their numbers, from 0. `threshold` is the least similarity of near-duplicates: 0.8 unless it or a preset says otherwise,
    as `method` is "join", the exact join, and `keep` is "first". `within` compares only documents of one value of a column.

    `against` is what to remove near-duplicates of, too: a table, paths, a collection, or a dict of these by their names.

    Ids come back as texts, and in what `explain` says as what they were. Rows of `against` without ids are known as
    "against:0" and so on, or by the name of their table; so are all rows of it where `data` has no ids.

    Every other option of `alike dedup` is an argument: `ngram=3`, `clustering="transitive"`, `memory="2G"`, `workers=1`,
    `preset="web"`, `missing_text="keep"`, `max_rejected=50`. With `pairs` all pairs are listed at once, which takes longer
    where many documents are alike.

    With `out` the program writes its folder there, which stays; without it, to a temporary folder that goes with the result.
    Rows of a table that were numbered have their numbers there in the column alike_row.
    `progress` shows how far the work is: in a terminal and in a notebook unless it says otherwise.

    Raises an `AlikeError` that says what is wrong and what to do; then nothing is left behind.
    """
    folder = Folder()
    configured = options.get("config") is not None
    number = NUMBER if id is None and not configured else None
    rows = given(data, folder, "rows", text=text, id=id, within=within, number=number, configured=configured)
    options = {
        "text-field": text,
        "id-field": id if id is not None else rows.id_field,
        "threshold": threshold,
        "method": method,
        "keep": keep,
        "within": within,
        **options,
    }
    options["against"] = [*_against(against, folder, text, id, rows), *_listed(options.get("against"))]
    return _found(folder, rows, options, out, pairs, progress)


def split(
    data: Any, *, test_size: float = 0.2, seed: int = 0, text: str | None = None, id: str | None = None, **options: Option
) -> tuple[Table, Table]:
    """Divides the rows of a table into two, for training and for testing, so that no near-duplicates stand on both sides.

    >>> train, test = alike.split(frame, test_size=0.25)
    >>> len(train) + len(test)
    327

    Clusters are the connected components of all pairs of near-duplicates, and each goes to one side as a whole: the second
    table has at most `test_size` of the rows, drawn by `seed`. Rows that are refused are on neither side.
    """
    if not 0 <= test_size <= 1:
        raise UsageError(f"test_size is a share of the rows, 0 to 1, not {test_size}")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed is a whole number from 0 on, not {seed}")
    if paths_of(data) is not None:
        raise UsageError("split divides a table: read the files first, as with polars.read_ndjson")
    if options.get("against") is not None:
        raise UsageError("split divides one table; hold its parts against others with dedup")
    if options.get("clustering") not in (None, "transitive"):
        raise UsageError("split takes connected components, clustering='transitive': other clusters may be alike")
    how: dict[str, Any] = {**options, "clustering": "transitive"}
    found = dedup(data, text=text, id=id, **how)
    return found._split(test_size, seed)


class Result:
    """What was found. Tables are read from files of a temporary folder that goes with the last of them.

    >>> found = alike.dedup("samples/licences.jsonl")
    >>> found
    <alike.Result: 198 of 327 documents removed, 34 exact and 164 near duplicates; 129 kept>
    """

    def __init__(self, folder: Folder, rows: Given, options: dict[str, Option], out: Path, progress: bool | None) -> None:
        self._folder = folder
        self._rows = rows
        self._options = options
        self._out = out
        self._progress = progress
        self._pairs: Table | None = None
        self.summary: dict[str, Any] = json.loads((out / "summary.json").read_bytes())
        """The counts, the configuration and the times of the run, as in summary.json."""

    @property
    def out(self) -> Path:
        """The folder that the program wrote.

        >>> found = alike.dedup("samples/licences.jsonl")
        >>> (found.out / "summary.json").exists()
        True
        """
        return self._out

    @property
    def kept(self) -> Table:
        """The documents that stay: of a table its rows with all columns, in their order.

        Of files they are rows with id, text, file, line and the record, or all columns of Parquet and Arrow. Where `out` is
        given, files have the form of the inputs, and only Parquet and Arrow can be read as a table.

        >>> len(alike.dedup("samples/licences.jsonl").kept)
        129
        """
        if self._rows.sent is not None:
            return Table(self._sent().picked([self._read("duplicates"), self._read("rejected")], False))
        files = sorted(path for path in (self._out / "kept").rglob("*") if path.is_file())
        if any(path.suffix not in (".parquet", ".arrow", ".arrows", ".feather", ".ipc") for path in files):
            raise UsageError(f"{self._out / 'kept'} has files in the form of the inputs: read them, or give to='parquet'")
        try:
            return Table(Rows.files(files, self._folder))
        except ValueError as error:
            raise UsageError(f"kept is no one table: {error}; with out, the program writes a file for each") from error

    @property
    def removed_rows(self) -> Table:
        """The rows of a table that go, with all columns, in their order.

        >>> len(alike.dedup(frame).removed_rows)
        198
        """
        if self._rows.sent is None:
            raise UsageError("removed_rows is for tables; of files, write_removed=True with out writes what is removed")
        return Table(self._sent().picked([self._read("duplicates")], True))

    @property
    def removed(self) -> Table:
        """A row for each removed document: which one it resembles, how much, and why it goes.

        >>> alike.dedup("samples/licences.jsonl").removed.to_dicts(1)[0]["reason"]
        'near'
        """
        return self._list("duplicates")

    @property
    def clusters(self) -> Table:
        """The clusters of two documents or more, with the ids of their members.

        >>> len(alike.dedup("samples/licences.jsonl").clusters)
        47
        """
        return self._list("clusters")

    @property
    def assignments(self) -> Table:
        """A row for every document that has a word: its cluster, whether it is kept, and why not.

        >>> len(alike.dedup("samples/licences.jsonl").assignments)
        327
        """
        return self._list("assignments")

    @property
    def refused(self) -> Table:
        """The rows or records that were refused, and why.

        >>> len(alike.dedup("samples/licences.jsonl").refused)
        0
        """
        return self._list("rejected")

    @property
    def pairs(self) -> Table:
        """The pairs of near-duplicates. Of equal texts, only the first is paired with others, and each of the rest with it.
        Unless `pairs=True` asked for them, the program runs once more.

        >>> alike.dedup("samples/licences.jsonl").pairs.to_dicts(1)
        [{'a': 'common/BSD', 'b': 'gdb/BSD-3-clause', 'resemblance': 0.9681818181818181}]
        """
        if self._pairs is None:
            self._pairs = self._with_pairs({})._list("pairs") if not self._has("pairs") else self._list("pairs")
        return self._pairs

    def explain(self, a: object, b: object | None = None, *, rows: bool = False) -> dict[str, Any]:
        """Why a document was removed or kept; with two, what they share. Documents are named by their ids, those of a table
        without ids by the numbers of their rows. With `rows`, `a` and `b` are numbers of rows in any case: ids may repeat.

        >>> found = alike.dedup("samples/licences.jsonl")
        >>> why = found.explain("common/GFDL-1.3")
        >>> why["representative"], why["chain"][0]["measures"]["shared"]
        ('common/GFDL-1.2', 3177)
        """
        names = [str(one) for one in (a, b) if one is not None]
        if rows:
            if self._rows.sent is None:
                raise UsageError("rows=True is for tables; documents of files are FILE:LINE")
            if not all(name.isdecimal() for name in names):
                raise UsageError(f"with rows=True, documents are numbers of rows, not {', '.join(map(repr, names))}")
            names = [f"{self._rows.sent}:{int(name) + 1}" for name in names]
        told: dict[str, Any] = value(["explain", "--format=json"], [str(self._out), *names], cwd=self._rows.cwd)
        return told

    def near_threshold(self, n: int = 20) -> list[dict[str, Any]]:
        """The `n` pairs that are near-duplicates by the least, and the `n` that fail by the least, the least alike first.

        The program runs once more, with all pairs down to 0.1 below the threshold. For the method "join".

        >>> found = alike.dedup("samples/licences.jsonl", threshold=0.9)
        >>> [(pair["near_duplicates"], round(pair["resemblance"], 3)) for pair in found.near_threshold(1)]
        [(False, 0.9), (True, 0.901)]
        """
        configuration = self.summary["configuration"]
        threshold: float = configuration["threshold"]
        if configuration["method"] != "join" or configuration["join"]["measure"] != "resemblance":
            raise UsageError("near_threshold is for the method join, which measures resemblance")
        # In millionths, as exact decimals have them.
        below = round(threshold - 0.1, 6) if threshold > 0.1 else max(round(threshold / 2, 6), 0.000001)
        pairs = self._with_pairs({"threshold": below})._list("pairs")
        rows = pairs.to_dicts()
        over = heapq.nsmallest(n, (row for row in rows if row["resemblance"] >= threshold), key=_how_alike)
        under = heapq.nlargest(n, (row for row in rows if row["resemblance"] < threshold), key=_how_alike)
        near = [{**row, "near_duplicates": False} for row in reversed(under)]
        return near + [{**row, "near_duplicates": True} for row in over]

    def rethreshold(self, threshold: float) -> Result:
        """What would have been found at another threshold, by another run over the same rows or files.

        >>> found = alike.dedup("samples/licences.jsonl")
        >>> found.rethreshold(0.9).summary["removed"]
        151
        """
        options = {**self._options, "threshold": threshold}
        again = _found(self._folder, self._rows, options, None, False, self._progress, only_lists=True)
        return self._unchanged(again)

    def report(self, path: str | os.PathLike[str], **options: Option) -> Path:
        """Writes a page (HTML) about the run, which needs no network: what went and why, how alike it was, examples.

        >>> found = alike.dedup("samples/licences.jsonl")
        >>> found.report(folder / "out.html").name
        'out.html'
        """
        run(
            ["report", *flags({"out": os.path.abspath(path)}, own=True), *flags(options)],
            [str(self._out)],
            watched=True,
            progress=self._progress,
            cwd=self._rows.cwd,
        ).close()
        return Path(path)

    def __repr__(self) -> str:
        told = self.summary
        return (
            f"<alike.Result: {told['removed']:,} of {told['documents']:,} documents removed, "
            f"{told['exact_duplicates']:,} exact and {told['near_duplicates']:,} near duplicates; {told['kept']:,} kept"
            + (f", {told['rejected']:,} refused>" if told["rejected"] else ">")
        )

    def _repr_html_(self) -> str:
        return _picture(self.summary)

    def _has(self, name: str) -> bool:
        return (self._out / f"{name}.parquet").exists()

    def _list(self, name: str) -> Table:
        return Table(self._read(name))

    def _read(self, name: str) -> Rows:
        with read_again():
            return Rows.list(self._out / f"{name}.parquet", self._rows.sent is not None, self._folder)

    def _sent(self) -> Rows:
        assert self._rows.sent is not None
        with read_again():
            return Rows.sent(self._rows.sent, self._rows.numbered, self._rows.rows, self._folder)

    def _split(self, share: float, seed: int) -> tuple[Table, Table]:
        train, test = self._sent().split(self._read("assignments"), self._read("rejected"), share, seed)
        return Table(train), Table(test)

    def _with_pairs(self, changed: dict[str, Option]) -> Result:
        again = _found(self._folder, self._rows, {**self._options, **changed}, None, True, self._progress, only_lists=True)
        return self._unchanged(again)

    def _unchanged(self, again: Result) -> Result:
        """Another run over the same inputs, if they are the same."""
        for what in ("inputs", "documents", "contents"):
            if again.summary[what] != self.summary[what]:
                raise StateError("the inputs changed since the run: run dedup again")
        return again


def _found(
    folder: Folder,
    rows: Given,
    options: dict[str, Option],
    out: str | os.PathLike[str] | None,
    pairs: bool,
    progress: bool | None,
    *,
    only_lists: bool = False,
) -> Result:
    where = _folder(out) if out is not None else folder.run()
    written: dict[str, Option] = {"out": where, "lists": "parquet", "assignments": True, "pairs": pairs}
    own = options
    asked = {name.rstrip("_").replace("-", "_"): option for name, option in options.items()}
    # All assignments are listed anyway.
    left = ("assignments", *(_WRITTEN if only_lists else ()))
    options = {name: option for name, option in options.items() if name.rstrip("_").replace("-", "_") not in left}
    if out is None and not only_lists and asked.get("annotate"):
        raise UsageError("annotate is for what is written: name a folder with out")
    if out is None and (only_lists or asked.get("to") is None):
        # The rows of a table are here already; those of files are read as a table later.
        written["to"] = "ids" if rows.sent is not None or only_lists else "parquet"
    try:
        words = ["dedup", *flags(written, own=True), *flags(options)]
        run(words, rows.inputs, watched=True, progress=progress, cwd=rows.cwd).close()
    except RefusedError as error:
        if written.get("to") != "ids" or "has a line break" not in str(error):
            raise
        # Nobody asked for a list of ids: it is only shorter than records, which take any id.
        words = ["dedup", *flags({**written, "to": "jsonl"}, own=True), *flags(options)]
        run(words, rows.inputs, watched=True, progress=progress, cwd=rows.cwd).close()
    result = Result(folder, rows, own, where, progress)
    if not only_lists:
        _warn_of(result.summary, options)
    return result


# What a run writes beside its lists: another run for these alone writes none of it again.
_WRITTEN = (
    "annotate",
    "profile",
    "report",
    "report_by",
    "report_from",
    "shard_size",
    "to",
    "write_removed",
)


def _folder(out: str | os.PathLike[str]) -> Path:
    """The folder that is to be written."""
    if not isinstance(out, (str, os.PathLike)):
        raise UsageError(f"out is the path of a folder, not {out!r}")
    if "://" in os.fspath(out):
        raise UsageError("out is a folder here, from which lists are read: write to stores with the command line")
    return Path(os.path.abspath(out))


def _warn_of(told: dict[str, Any], options: dict[str, Option]) -> None:
    """Warns of what the program tells people, and what would go unnoticed."""
    documents = told["documents"]
    if documents == 0:
        warn("there are no documents in what was given")
    if told["rejected"]:
        warn(
            f"{told['rejected']:,} rows were refused, and are neither kept nor removed: see refused. "
            f"The first: {told['first_rejected']}"
        )
    if options["id-field"] not in (None, NUMBER) and told["missing_id"]:
        warn(
            f"{told['missing_id']:,} of {documents:,} documents have no text or whole number in {options['id-field']}: "
            "they are known by their places"
        )
    if told.get("missing_within"):
        warn(
            f"{told['missing_within']:,} of {documents:,} documents have no text or number in {options['within']}: "
            "they are compared with each other"
        )
    if told["missing_value"]:
        warn(f"{told['missing_value']:,} of {documents:,} documents have no value that keep={options['keep']!r} compares")


def _against(against: Any, folder: Folder, text: str | None, id: str | None, rows: Given) -> list[str]:
    if against is None:
        return []
    sets = dict(against) if isinstance(against, Mapping) else {"": against}
    named: list[str] = []
    for at, (name, data) in enumerate(sets.items()):
        if isinstance(data, Collection):
            data = data.path
        # Ids have one field in all inputs: where rows are numbered, these are, too, and known by other numbers, like "against:5".
        # So are those that have no ids beside rows that have.
        name = name or ("against" if paths_of(data) is None else "")
        if "=" in name:
            raise UsageError(f"{name!r} in against: the name of a table has no equals sign")
        number = None if paths_of(data) is not None else rows.id_field or id or "id"
        protected = given(data, folder, f"against-{at}", text=text, id=id, number=number, prefix=name, always=rows.numbered)
        named += [f"{name}={path}" if name else path for path in protected.inputs]
    return named


def _listed(option: Option) -> list[str]:
    if option is None or isinstance(option, (bool, int, float)):
        return []
    return [os.fspath(option)] if isinstance(option, (str, os.PathLike)) else list(option)


def _how_alike(row: dict[str, Any]) -> float:
    measured: float = row["resemblance"]
    return measured


def _picture(told: dict[str, Any]) -> str:
    """The counts as a small table, with the bar of the report."""
    parts = [
        ("kept", told["kept"], "#4c78a8"),
        ("exact duplicates", told["exact_duplicates"], "#e45756"),
        ("near-duplicates", told["near_duplicates"], "#f2a541"),
    ]
    documents = max(told["documents"], 1)
    bars, at = "", 0.0
    for name, count, colour in parts:
        width = 400 * count / documents
        bars += f'<rect x="{at:.1f}" width="{width:.1f}" height="14" fill="{colour}"><title>{name}: {count:,}</title></rect>'
        at += width
    configuration = told["configuration"]
    rows = [
        ("documents", f"{told['documents']:,}"),
        *((name, f"{count:,} ({100 * count / documents:.1f} %)") for name, count, _ in parts),
        ("clusters", f"{told['clusters']:,}, the largest of {told['largest_cluster']:,}"),
        ("method", f"{configuration['method']} at {configuration['threshold']}"),
    ]
    body = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
    return f'<table><tbody>{body}</tbody></table><svg width="400" height="14" role="img">{bars}</svg>'
