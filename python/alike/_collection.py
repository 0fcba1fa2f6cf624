"""Collections: near-duplicates that are kept up to date while documents come and go."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ._data import given, given_as_json, paths_of
from ._errors import UsageError
from ._program import Option, flags, rows, run, value, warn
from ._work import Folder


class Collection:
    """A collection in a folder. The first load makes it, with transitive clusters unless it is told otherwise: they do not hang
    on the order of loads. Every load and deletion is one commit: all of it, or nothing.

    >>> archive = alike.Collection(folder / "archive")
    >>> archive.load("samples/licences.jsonl")["added"]
    327
    >>> archive.clusters(top=1)[0]["size"]
    49
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(path))

    def __repr__(self) -> str:
        return f"alike.Collection({str(self.path)!r})"

    def load(
        self,
        data: Any,
        *,
        text: str | None = None,
        id: str | None = None,
        store_text: bool = False,
        progress: bool | None = None,
        **options: Option,
    ) -> dict[str, Any]:
        """Adds or updates documents, and says what changed. A document has an id: its next load replaces it.

        `text` and `id` name columns, when the load makes the collection; it remembers them. With `store_text` the collection
        keeps the records, so that `show` and `export` have them. Other options are those of `alike load`:
        `delete_missing=True`, `threshold=0.9`, `keep="longest"`, `max_delete="90%"`.

        >>> archive = alike.Collection(folder / "loaded")
        >>> archive.load("samples/licences.jsonl", threshold=0.9)["added"]
        327
        """
        # The same call again finds what an interrupted one has sent: in a folder that is gone as soon as this ends, whoever holds
        # its error.
        folder = Folder(str(self.path))
        try:
            sent = self._sent(data, folder, text, id, store_text, options)
            how: dict[str, Option] = {"text-field": text, "id-field": id, "store-text": store_text, **options}
            report: dict[str, Any] = value(
                ["load", "--json", *flags(how)], [str(self.path), *sent], watched=True, progress=progress
            )
            return report
        finally:
            folder.end()

    def _sent(
        self,
        data: Any,
        folder: Folder,
        text: str | None,
        id: str | None,
        store_text: bool,
        options: dict[str, Option],
    ) -> list[str]:
        """The inputs of a load: paths, or the file to which a table was written."""
        made = self._made()
        stored = store_text or bool(made and made["store_text"])
        configured = options.get("config") is not None and made is None
        if paths_of(data) is not None or not stored:
            column = id if id is not None or configured else _field(made, "id_field") or "id"
            named = text or _field(made, "text_field")
            return given(data, folder, "rows", text=named, id=column, configured=configured).inputs
        names = (text or _field(made, "text_field") or "text", id or _field(made, "id_field") or "id")
        columns = (None, None) if configured else names
        return given_as_json(data, folder, "rows", text=columns[0], id=columns[1]).inputs

    def abandon(self) -> None:
        """Discards what an interrupted load has done. Otherwise the same load again goes on with it, and every other is refused.

        >>> archive = alike.Collection(folder / "abandoned")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.abandon()
        """
        run(["load", "--abandon"], [str(self.path)]).close()

    def delete(self, ids: Iterable[object], **options: Option) -> dict[str, Any]:
        """Deletes documents by their ids, and says what changed.

        >>> archive = alike.Collection(folder / "smaller")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.delete(["common/GFDL-1.3"])["removed"]
        1
        """
        if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
            raise UsageError(f"delete takes several ids, like [{ids!r}]")
        named = [str(one) for one in ids]
        for one in named:
            if "\n" in one or one.endswith("\r") or not one.strip():
                raise UsageError(f"{one!r} is no id that a line can hold")
        with _spooled("".join(f"{one}\n" for one in named)) as given_ids:
            report: dict[str, Any] = value(["delete", "--json", "--ids=-", *flags(options)], [str(self.path)], given=given_ids)
        return report

    def check(self, data: Any, **options: Option) -> list[dict[str, Any]]:
        """What new texts resemble in the collection, which stays as it is. `data` is one text, a `Path` of a file, or a table
        with the column that texts of the collection were loaded from.

        Of a text the documents that resemble it are returned; of a table or a file a dict for each row.

        >>> archive = alike.Collection(folder / "asked")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.check(open("LICENSE-APACHE").read())[0]["id"]
        'common/Apache-2.0'
        """
        if isinstance(data, str):
            # As a record, so that no text is taken for what it begins like, such as an archive.
            record = json.dumps(_nested((_field(self._made(), "text_field") or "text").split("."), data), ensure_ascii=False)
            with _spooled(record) as text:
                answers = list(rows(["check", "--input-format=jsonl", *flags(options)], [str(self.path)], given=text))
            found: list[dict[str, Any]] = answers[0]["resembles"] if answers else []
            return found
        folder = Folder()
        asked = given(data, folder, "rows", text=_field(self._made(), "text_field"), ids=False)
        command = ["check", *flags(options)]
        answers = [row for path in asked.inputs for row in rows(command, [str(self.path), path])]
        if asked.sent is None or len(answers) == asked.rows:
            return answers
        warn(f"{asked.rows - len(answers):,} rows have no text, and resemble nothing")
        by_line = {row["line"]: row for row in answers}
        nothing: dict[str, Any] = {"id": None, "file": str(asked.sent), "resembles": []}
        return [by_line.get(line, {**nothing, "line": line}) for line in range(1, asked.rows + 1)]

    def changes(self, since: int = 0) -> list[dict[str, Any]]:
        """How clusters changed, commit by commit, after the commit `since`.

        >>> archive = alike.Collection(folder / "changed")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.changes()[0]["change"]
        'created'
        """
        return list(rows(["changes", f"--since={since}"], [str(self.path)]))

    def clusters(self, top: int | None = None, min_size: int | None = None, **options: Option) -> list[dict[str, Any]]:
        """The clusters, the largest first, with the ids of their members.

        >>> archive = alike.Collection(folder / "clustered")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> len(archive.clusters(min_size=20))
        3
        """
        how: dict[str, Option] = {"top": top, "min-size": min_size, **options}
        return list(rows(["clusters", *flags(how)], [str(self.path)]))

    def pairs(self) -> Iterator[dict[str, Any]]:
        """All pairs of near-duplicates, one by one.

        >>> archive = alike.Collection(folder / "paired")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> sum(1 for pair in archive.pairs() if pair["resemblance"] >= 0.9)
        515
        """
        return rows(["pairs"], [str(self.path)])

    def documents(self) -> Iterator[dict[str, Any]]:
        """All documents in the order of their ids, one by one, with their clusters.

        >>> archive = alike.Collection(folder / "listed")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> next(archive.documents())["id"]
        'at-spi2-common/LGPL-2+'
        """
        return rows(["documents"], [str(self.path)])

    def explain(self, a: object, b: object | None = None) -> dict[str, Any]:
        """Why a document is in its cluster; with two, the links between them, or what they lack.

        >>> archive = alike.Collection(folder / "explained")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.explain("common/GFDL-1.3", "common/GFDL-1.2")["answer"]
        'together'
        """
        names = [str(one) for one in (a, b) if one is not None]
        told: dict[str, Any] = value(["explain", "--format=json"], [str(self.path), *names])
        return told

    def recluster(self, **options: Option) -> list[dict[str, Any]]:
        """The clusters at another `threshold`, `keep` or `clustering`; the collection stays as it is.

        >>> archive = alike.Collection(folder / "reclustered")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> len(archive.recluster(threshold=0.95))
        52
        """
        return list(rows(["recluster", *flags(options)], [str(self.path)]))

    def info(self) -> dict[str, Any]:
        """The configuration, the counts and the files.

        >>> archive = alike.Collection(folder / "described")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.info()["documents"]
        327
        """
        told: dict[str, Any] = value(["info", "--format=json"], [str(self.path)])
        return told

    def log(self) -> list[dict[str, Any]]:
        """The commits, the newest first.

        >>> archive = alike.Collection(folder / "logged")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> [(commit["command"], commit["added"]) for commit in archive.log()]
        [('load', 327)]
        """
        return list(rows(["log"], [str(self.path)]))

    def show(self, cluster: str, **options: Option) -> dict[str, Any]:
        """A cluster: its members beside the document that is kept, with their differences word by word.

        >>> archive = alike.Collection(folder / "shown")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> cluster = archive.clusters(top=1)[0]["cluster"]
        >>> archive.show(cluster, limit=2)["size"]
        49
        """
        told: dict[str, Any] = value(["show", "--format=json", *flags(options)], [str(self.path), cluster])
        return told

    def export(self, out: str | os.PathLike[str], **options: Option) -> Path:
        """Writes the deduplicated files of the collection to a new folder; for tables it takes `store_text` on the first load.

        >>> archive = alike.Collection(folder / "exported")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> (archive.export(folder / "clean") / "kept").exists()
        True
        """
        where = os.fspath(out) if "://" in os.fspath(out) else os.path.abspath(out)
        words = ["export", *flags({"out": where}, own=True), *flags(options)]
        run(words, [str(self.path)], watched=True).close()
        return Path(out)

    def compact(self, **options: Option) -> None:
        """Merges the files of the collection, and drops deleted data.

        >>> archive = alike.Collection(folder / "compacted")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.compact()
        """
        run(["compact", *flags(options)], [str(self.path)]).close()

    def report(self, path: str | os.PathLike[str], **options: Option) -> Path:
        """Writes a page (HTML) about the duplicates of the collection.

        >>> archive = alike.Collection(folder / "reported")
        >>> _ = archive.load("samples/licences.jsonl")
        >>> archive.report(folder / "archive.html").name
        'archive.html'
        """
        run(
            ["report", *flags({"out": os.path.abspath(path)}, own=True), *flags(options)], [str(self.path)], watched=True
        ).close()
        return Path(path)

    def _made(self) -> dict[str, Any] | None:
        """What the collection says of itself, if a load has made it."""
        # A load that was refused leaves a lock and nothing else.
        if not self.path.is_dir() or {path.name for path in self.path.iterdir()} <= {"lock"}:
            return None
        return self.info()


def _field(made: dict[str, Any] | None, name: str) -> str | None:
    """The field that a collection takes ids or texts from."""
    if made is None:
        return None
    field: str = made["configuration"]["input"][name]
    return field


def _nested(path: list[str], value: str) -> dict[str, Any]:
    """An object in which a value stands at a path."""
    return {path[0]: value if len(path) == 1 else _nested(path[1:], value)}


def _spooled(text: str) -> IO[bytes]:
    """A text as standard input."""
    try:
        written = text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"what is given is no text that UTF-8 can hold: {error}") from error
    spool = tempfile.TemporaryFile()
    spool.write(written)
    spool.seek(0)
    return spool
