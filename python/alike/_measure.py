"""Methods and thresholds measured on one's own data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ._data import given
from ._errors import UsageError
from ._program import Option, flags, value
from ._work import Folder

Labels = str | os.PathLike[str] | Iterable[tuple[object, object, object]]
"""A file of labels, or judged pairs: two ids, and 1 for duplicates or 0 for others."""


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
    threshold: float | list[float] | None = None,
    text: str | None = None,
    id: str | None = None,
    progress: bool | None = None,
    **options: Option,
) -> dict[str, Any]:
    """Helps to choose a threshold.

    With `threshold`, one or several: how many documents would go at each, with pairs that only just count. Without it: the
    size of shingles and the threshold that suit the labels best, or the gap in the distribution of similarities.

    >>> told = alike.tune("samples/licences.jsonl", threshold=[0.8, 0.9])
    >>> [(at["threshold"], at["copies"] + at["near"]) for at in told["thresholds"]]
    [(0.8, 198), (0.9, 151)]
    """
    if threshold is None:
        return _measured(["tune", "threshold"], data, labels, text, id, progress, options)
    if labels is not None:
        raise UsageError("with labels, tune looks for the threshold itself: leave threshold out")
    asked = threshold if isinstance(threshold, list) else [threshold]
    options = {**options, "threshold": [str(one) for one in asked]}
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
    rows = given(data, folder, "rows", text=text, id=id, number=True)
    how: dict[str, Option] = {"text-field": text, "id-field": id if id is not None else rows.id_field, **options}
    if labels is not None:
        how["labels"] = _file(labels, folder)
    told: dict[str, Any] = value([*command, "--format=json", *flags(how)], [*rows.inputs], watched=True, progress=progress)
    return told


def _file(labels: Labels, folder: Folder) -> str | os.PathLike[str]:
    if isinstance(labels, (str, os.PathLike)):
        return labels
    path: Path = folder.path / "labels.tsv"
    with path.open("w", encoding="utf-8") as to:
        to.write("id_a\tid_b\tgrade\n")
        for a, b, grade in labels:
            line = f"{a}\t{b}\t{int(grade) if isinstance(grade, bool) else grade}"
            if line.count("\t") != 2 or "\n" in line:
                raise UsageError(f"an id of {(a, b)} has a tab or a line break: write the labels as JSON Lines")
            to.write(line + "\n")
    return path
