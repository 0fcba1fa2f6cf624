"""What users hand over: paths that the program reads itself, or a table whose rows are sent to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ._alike import write_arrow, write_json_lines
from ._errors import FailedError, UsageError
from ._work import Folder

Paths = str | os.PathLike[str] | list[str] | list[os.PathLike[str]] | tuple[str, ...]
"""Files, folders, globs and URLs, as the command line takes them."""

NUMBER = "alike_row"
"""The column that numbers rows without ids."""


class Given:
    """Inputs of the program: paths as they are, or the file to which a table was written."""

    def __init__(self, inputs: list[str]) -> None:
        self.inputs = inputs
        self.cwd = os.getcwd()
        self.sent: Path | None = None
        self.rows = 0
        self.numbered = False

    @property
    def id_field(self) -> str | None:
        """The field of ids, where it is not the user who says it."""
        return NUMBER if self.numbered else None


def paths_of(data: object) -> list[str] | None:
    """The paths, if it is paths that are given."""
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)]
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
        return [os.fspath(one) for one in data]
    return None


def given(
    data: Any,
    folder: Folder,
    name: str,
    *,
    text: str | None = None,
    id: str | None = None,
    within: str | None = None,
    number: str | None = None,
    prefix: str | None = None,
    always: bool = False,
    configured: bool = False,
    ids: bool = True,
) -> Given:
    """Paths as they are; a table is written to a file of the folder.

    With the name of a column in `number`, rows without a column of ids get their numbers there, behind a `prefix` if there is
    one, and with `always` all rows do. If a configuration file may name the columns, the program looks for them. Without
    `ids` nothing is asked of the column of ids.
    """
    for field, what in ((text, "text"), (id, "id"), (within, "within")):
        if field is not None and not isinstance(field, str):
            raise UsageError(f"{what} is the name of one column, not {field!r}")
    paths = paths_of(data)
    if paths is not None:
        return Given(paths)
    path = folder.path / f"{name}.arrow"
    unless = None if always else id or "id"
    with _told():
        rows, columns, numbered = write_arrow(_stream(data), path, number, unless, prefix)
    types = dict(columns)
    if numbered and number in types:
        raise UsageError(
            f"the table has a column {number!r}, which numbers rows without ids: rename it, or name a column of ids with id"
        )
    if text is not None or not configured:
        _check_column(text or "text", "text", types)
    if within is not None and within != ":file":
        _check_column(within, "within", types)
    if id is not None and not numbered:
        _check_column(id, "id", types)
    if ids and not numbered and not configured and types.get(id or "id", "Utf8").startswith(_NO_IDS):
        raise UsageError(f"the column {id or 'id'!r} has the type {types[id or 'id']}: ids are texts or whole numbers")
    sent = Given([str(path)])
    sent.sent, sent.rows, sent.numbered = path, rows, numbered
    return sent


def given_as_json(data: Any, folder: Folder, name: str, *, text: str | None = None, id: str | None = None) -> Given:
    """A table as JSON Lines, for labels, and for collections that keep records, with the columns `text` and `id`."""
    path = folder.path / f"{name}.jsonl"
    with _told():
        rows, columns = write_json_lines(_stream(data), path)
    types = dict(columns)
    for field, what, other in ((text, "text", _NO_TEXTS), (id, "id", (*_NO_IDS, *_BYTES))):
        if field is not None:
            # Deletions need no text.
            if what == "id" or "op" not in types:
                _check_column(field, what, types)
            if types.get(field, "Utf8").startswith(other):
                kinds = "texts" if what == "text" else "texts or whole numbers"
                raise UsageError(f"the column {field!r} has the type {types[field]}: cast it to {kinds}")
    sent = Given([str(path)])
    sent.sent, sent.rows = path, rows
    return sent


_BYTES = ("Binary", "LargeBinary", "FixedSizeBinary")
_NO_TEXTS = ("Int", "UInt", "Float", "Bool", "Date", "Time", "Duration", "Interval", "Decimal", "Map", "Null", *_BYTES)
_NO_IDS = ("Float", "Bool", "Date", "Time", "Duration", "Interval", "Decimal", "List", "Struct", "Map", "Null")


# What Python says last of an interrupt that nobody has caught, alone or behind the name of who says it.
_INTERRUPTED = re.compile(r"(?m)(^|exception: )KeyboardInterrupt\s*(:|$)")


class _told:
    """What is wrong with a table as an exception of ours, with what to do about it."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, (ValueError, TypeError, OverflowError)) or isinstance(error, UsageError):
            return
        said = str(error)
        if _INTERRUPTED.search(said):
            # In a source of rows that is written in Python.
            raise KeyboardInterrupt from error
        if "Python exception" in said:
            raise FailedError(said) from error
        if "Unable to interpret" in said:
            said += "; a column alone is no table: give a frame, like column.to_frame()"
        elif "C Data interface" in said or "not supported" in said:
            said += "; leave out or cast the column of that type, or give frame.to_arrow()"
        raise UsageError(said) from error


def _check_column(field: str, what: str, types: dict[str, str]) -> None:
    # "meta.text" is the member of a struct, or a column of that name.
    if field not in types and field.split(".")[0] not in types:
        raise UsageError(f"there is no column {field!r} for {what}={field!r}; the columns are: {', '.join(types)}")


def _stream(data: Any) -> Any:
    """An object with the Arrow PyCapsule interface, of what a library calls its tables."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        # A lazy frame of polars, which collects as it streams.
        return data.collect(engine="streaming")
    if hasattr(data, "with_format") and hasattr(data, "iter"):
        return _Tables(data.with_format("arrow").iter(batch_size=10_000), data)
    for name in ("to_arrow_reader", "fetch_arrow_reader", "fetch_record_batch", "toArrow"):
        if hasattr(data, name):
            # A relation of DuckDB, or a frame of Spark 4.
            return getattr(data, name)()
    if isinstance(data, dict) and all(hasattr(part, "with_format") for part in data.values()) and data:
        raise UsageError(f"these are several datasets: give one of them, like data[{next(iter(data))!r}]")
    if type(data).__module__.startswith("pandas"):
        raise UsageError("this pandas cannot hand over its rows: 2.2 or later can")
    raise UsageError(
        f"{type(data).__module__}.{type(data).__qualname__} is no path and no table: give a path, "
        "a list of paths, or a frame of polars, pandas, pyarrow, DuckDB or datasets (anything with __arrow_c_stream__)"
    )


class _Tables:
    """Tables of pyarrow, one after the other, as one stream."""

    def __init__(self, tables: Iterable[Any], dataset: Any) -> None:
        self._tables = tables
        self._dataset = dataset

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow

        tables = iter(self._tables)
        first = next(tables, None)
        if first is None:
            first = self._dataset.features.arrow_schema.empty_table()

        def batches() -> Iterator[Any]:
            yield from first.to_batches()
            for table in tables:
                yield from table.cast(first.schema).to_batches()

        reader = pyarrow.RecordBatchReader.from_batches(first.schema, batches())
        return reader.__arrow_c_stream__(requested_schema)
