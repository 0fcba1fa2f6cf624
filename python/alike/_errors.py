"""What can go wrong, by the exit code of the program."""

from __future__ import annotations

import re
import signal


class AlikeError(Exception):
    """The program ended with an error. Its message says what, where, and what to do; `code` is its exit code."""

    code: int = 1

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class FailedError(AlikeError, OSError):
    """A file could not be read or written (exit code 1)."""


class UsageError(AlikeError, ValueError):
    """An option, a column or a configuration makes no sense, or an output folder exists (exit code 2)."""

    code = 2


class RefusedError(AlikeError, ValueError):
    """The rows or files were refused: unusable as a whole, too many without a text, or more than fits (exit code 3)."""

    code = 3


class MissingError(RefusedError, FileNotFoundError):
    """There is no file or folder of a name that was given."""


class StateError(AlikeError):
    """There is no usable collection: damaged, being written to, interrupted, or of a later format (exit code 4)."""

    code = 4


class KilledError(AlikeError):
    """Something ended the program before it was done: `code` is the number of the signal, below 0."""


class AlikeWarning(UserWarning):
    """What the program warns of."""


_BY_CODE: dict[int, type[AlikeError]] = {1: FailedError, 2: UsageError, 3: RefusedError, 4: StateError}


def error_of(code: int, message: str) -> AlikeError:
    """The exception for an exit code, or for a signal if it is below 0."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; if the machine was out of memory, memory='2G' bounds what it takes" if code == -9 else ""
        told = f": {message}" if message else ""
        return KilledError(f"the program was ended by {name}{hint}; nothing was written{told}", code)
    missing = re.search("no such file or (folder|directory)", message, re.IGNORECASE)
    kind = MissingError if missing else _BY_CODE.get(code, AlikeError)
    return kind(message or f"the program ended with exit code {code} and said nothing", code)
