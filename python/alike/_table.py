"""Tables: rows that other libraries take without a copy of ours in memory."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._alike import Rows
from ._errors import AlikeError, FailedError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN_ROWS = 10
_SHOWN_LETTERS = 60


class Table:
    """Rows of the program, read from its files whenever they are asked for.

    Any library with the Arrow PyCapsule interface takes one: `polars.DataFrame(table)`, `pyarrow.table(table)`.

    >>> table = alike.dedup("samples/licences.jsonl").clusters
    >>> len(table), table.columns
    (47, ['cluster', 'size', 'representative', 'members'])
    >>> table.to_dicts()[1]["size"]
    6
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns.

        >>> alike.dedup("samples/licences.jsonl").clusters.columns[0]
        'cluster'
        """
        return self._rows.columns

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, one by one, each a dict of JSON values."""
        return iter(self.to_dicts())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows by the Arrow PyCapsule interface."""
        with told():
            return self._rows.__arrow_c_stream__(requested_schema)

    def to_dicts(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows, or the first `limit` of them, as dicts. Needs no other library; what JSON cannot say becomes text.

        >>> alike.dedup("samples/licences.jsonl").clusters.to_dicts(1)[0]["representative"]
        'common/BSD'
        """
        with told():
            return [json.loads(line) for line in self._rows.json_lines(limit).splitlines()]

    def to_polars(self) -> polars.DataFrame:
        """The rows as a frame of polars.

        >>> alike.dedup("samples/licences.jsonl").clusters.to_polars().height
        47
        """
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table of pyarrow.

        >>> alike.dedup("samples/licences.jsonl").clusters.to_arrow().num_rows
        47
        """
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas: by pyarrow if it is installed, else with the types of `to_dicts`.

        >>> len(alike.dedup("samples/licences.jsonl").clusters.to_pandas())
        47
        """
        import pandas

        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame(self.to_dicts(), columns=self.columns)
        return pyarrow.table(self).to_pandas()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}: {kind}" for name, kind in zip(self.columns, self._rows.types, strict=True))
        return f"<alike.Table of {len(self):,} rows ({fields})>"

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>"
            for row in self.to_dicts(_SHOWN_ROWS)
        )
        more = len(self) - _SHOWN_ROWS
        foot = f"<p>and {more:,} more rows</p>" if more > 0 else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return html.escape(text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 3] + "...")


class told:
    """Errors of files of ours as exceptions of ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (OSError, ValueError)) and not isinstance(error, AlikeError):
            raise FailedError(f"the rows cannot be read again: {error}") from error
