"""Near-duplicate documents: exact, parallel, explained.

>>> import alike
>>> found = alike.dedup("samples/licences.jsonl", threshold=0.9)
>>> found.summary["removed"]
151
>>> found.removed.to_dicts()[0]["representative"]
'at-spi2-common/LGPL-2+'

Tables come and go by the Arrow PyCapsule interface: those of polars, pandas (2.2 or later), pyarrow, DuckDB and datasets
alike. The work is done by the program `alike`, which is installed with this module; names and defaults are those of its
command line.
"""

from ._alike import __version__, resemblance, shingles
from ._collection import Collection
from ._dedup import Result, dedup, split
from ._errors import (
    AlikeError,
    AlikeWarning,
    FailedError,
    KilledError,
    MissingError,
    RefusedError,
    StateError,
    UsageError,
)
from ._measure import evaluate, tune
from ._program import program
from ._table import Table

__all__ = [
    "AlikeError",
    "AlikeWarning",
    "Collection",
    "FailedError",
    "KilledError",
    "MissingError",
    "RefusedError",
    "Result",
    "StateError",
    "Table",
    "UsageError",
    "__version__",
    "dedup",
    "evaluate",
    "program",
    "resemblance",
    "shingles",
    "split",
    "tune",
]
