"""Methods and thresholds measured on one's own data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ._data import NUMBER, given, given_as_json
from ._errors import UsageError
from ._program import Option, decimal, flags, value
from ._work import Folder

Labels = str | os.PathLike[str] | Iterable[tuple[object, object, object]] | Any
"""A file of labels, judged pairs (two ids, and 1 for duplicates or 0 for others), or a table like such a file."""


def evaluate(
    data: Any,
    labels: Labels | None = None,
    *,
    text: str | None = None,
    id: str | None = None,
    progress: bool | None = None,
    **options: Option,
) -> dict[str, Any]:
    """Measures precision, recall and speed of methods on a table or files, by labels or by the exact join.

    `labels` are pairs like ("a", "b", 1), with 1 for duplicates and 0 for others, a file of labels, or a table with the columns
    id_a, id_b and grade, or id and cluster.

    `preset` names one method or several: `preset=["web", "datatrove"]`. Each has a dict in the list
    "rows", and so has the exact join.

    >>> told = alike.evaluate("samples/licences.jsonl", preset=["datatrove"])
    >>> [row["name"] for row in told["rows"]]
    ['datatrove', 'join']
    """
    return _measured(["evaluate"], data, labels, text, id, progress, options)


def tune(
    data: Any,
    labels: Labels | None = None,
    *,
    threshold: float | str | Iterable[float | str] | None = None,
    text: str | None = None,
    id: str | None = None,
    progress: bool | None = None,
    **options: Option,
) -> dict[str, Any]:
    """Helps to choose a threshold.

    With `threshold`, one or several: how many documents would go at each, with pairs that only just count. Without it: the
    size of shingles and the threshold that suit the labels best (those of `evaluate`), or the gap in the distribution of
    similarities.

    >>> told = alike.tune("samples/licences.jsonl", threshold=[0.8, 0.9])
    >>> [(at["threshold"], at["copies"] + at["near"]) for at in told["thresholds"]]
    [(0.8, 198), (0.9, 151)]
    """
    if threshold is None:
        return _measured(["tune", "threshold"], data, labels, text, id, progress, options)
    if labels is not None:
        raise UsageError("with labels, tune looks for the threshold itself: leave threshold out")
    asked = list(threshold) if isinstance(threshold, Iterable) and not isinstance(threshold, str) else [threshold]
    options = {**options, "threshold": [one if isinstance(one, str) else decimal(one) for one in asked]}
    return _measured(["tune", "sample"], data, None, text, id, progress, options)


def _measured(
    command: list[str],
    data: Any,
    labels: Labels | None,
    text: str | None,
    id: str | None,
    progress: bool | None,
    options: dict[str, Option],
) -> dict[str, Any]:
    folder = Folder()
    configured = options.get("config") is not None
    number = NUMBER if id is None and not configured else None
    rows = given(data, folder, "rows", text=text, id=id, number=number, configured=configured)
    how: dict[str, Option] = {"text-field": text, "id-field": id if id is not None else rows.id_field, **options}
    if labels is not None:
        how["labels"] = _file(labels, folder)
    told: dict[str, Any] = value([*command, "--format=json", *flags(how)], [*rows.inputs], watched=True, progress=progress)
    return told


def _file(labels: Labels, folder: Folder) -> str | os.PathLike[str]:
    if isinstance(labels, (str, os.PathLike)):
        return labels
    if hasattr(labels, "__arrow_c_stream__"):
        return given_as_json(labels, folder, "labels").inputs[0]
    path: Path = folder.path / "labels.tsv"
    with path.open("w", encoding="utf-8") as to:
        to.write("id_a\tid_b\tgrade\n")
        for label in labels:
            if not isinstance(label, (tuple, list)) or len(label) != 3:
                raise UsageError(f"a label is two ids and 1 or 0, like ('a', 'b', 1), not {label!r}")
            a, b, grade = label
            line = f"{a}\t{b}\t{int(grade) if isinstance(grade, bool) else grade}"
            if line.count("\t") != 2 or "\n" in line:
                raise UsageError(f"an id of {(a, b)} has a tab or a line break: write the labels as JSON Lines")
            to.write(line + "\n")
    return path
