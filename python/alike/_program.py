"""The program `alike`: found, run, watched and ended."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from ._errors import AlikeWarning, FailedError, error_of

Option = str | int | float | bool | os.PathLike[str] | Sequence[str] | None
"""A value of an option of the command line: True stands for the option alone, None and False for none at all."""

_SECONDS_TO_END = 5.0


@functools.cache
def program() -> str:
    """The path of the program. ALIKE_PROGRAM names another one.

    >>> import os
    >>> os.path.basename(alike.program())
    'alike'
    """
    named = os.environ.get("ALIKE_PROGRAM")
    if named:
        return named
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    # `pip install --target DIR` puts scripts beside the module.
    folders.append(str(Path(__file__).parent.parent / "bin"))
    for folder in folders:
        found = shutil.which("alike", path=folder)
        if found:
            return found
    raise FailedError(
        f"the program alike is not in {' or '.join(folders)}: install the wheel again, or name it in ALIKE_PROGRAM"
    )


def flags(options: Mapping[str, Option]) -> list[str]:
    """Options of Python as those of the command line: `max_rejected=5` is `--max-rejected=5`."""
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (str, int, float, os.PathLike)):
            words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
        else:
            words.extend(f"{flag}={one}" for one in value)
    return words


def run(
    words: Sequence[str],
    operands: Sequence[str],
    *,
    given: IO[bytes] | None = None,
    progress: bool | None = None,
    watched: bool = False,
) -> IO[bytes]:
    """Runs a command with options on operands, which may begin with a dash, and returns what it printed. `watched` if the
    command has --json-progress.

    Raises an AlikeError if it ends with an error. Whatever ends the wait ends the program, too.
    """
    arguments = [program(), *words, *(["--json-progress"] if watched else []), "--", *operands]
    printed = tempfile.TemporaryFile()
    environment = {**os.environ, "NO_COLOR": "1"}
    try:
        child = subprocess.Popen(
            arguments,
            stdin=given if given is not None else subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
            env=environment,
        )
    except OSError as error:
        raise FailedError(f"{arguments[0]} cannot be started: {error.strerror}") from error
    line = _Line(progress)
    try:
        told = _listen(child, line)
        code = child.wait()
    except BaseException:
        _end(child)
        raise
    finally:
        line.clear()
        if child.stderr is not None:
            child.stderr.close()
    if code == -signal.SIGINT or code == 130:
        raise KeyboardInterrupt
    if code != 0:
        raise error_of(code, told)
    printed.seek(0)
    return printed


def rows(words: Sequence[str], operands: Sequence[str], *, given: IO[bytes] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of JSON that a command prints, one by one. The command has ended before the first."""
    printed = run([*words, "--format=jsonl"], operands, given=given)
    return (json.loads(line) for line in printed)


def value(words: Sequence[str], operands: Sequence[str], **how: Any) -> Any:
    """The JSON value that a command prints."""
    with run(words, operands, **how) as printed:
        return json.loads(printed.read() or b"null")


def _listen(child: subprocess.Popen[bytes], line: _Line) -> str:
    """Follows what the program says until it says no more; returns its error."""
    errors: list[str] = []
    assert child.stderr is not None
    for raw in child.stderr:
        said = raw.decode("utf-8", "replace").rstrip("\n")
        if said.startswith("{"):
            try:
                line.show(json.loads(said))
            except json.JSONDecodeError:
                errors.append(said)
        elif (warning := _WARNING.match(said)) is not None:
            line.clear()
            warnings.warn(in_python(said[warning.end() :]), AlikeWarning, stacklevel=2)
        elif said:
            errors.append(said.removeprefix("alike: ").removeprefix("error: "))
    return in_python("\n".join(errors))


_WARNING = re.compile(r"(alike: )?warning: ")
_SENT = re.compile(r"\S*/alike-python-[^/]*/[a-z0-9-]+\.(?:arrow|jsonl)(?:, (?:row|line) (\d+))?")
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_ARGUMENTS = {"text-field": "text", "id-field": "id"}


def in_python(message: str) -> str:
    """A message with the names that things have in Python: arguments for options, the table for the file it was sent as.

    >>> from alike._program import in_python
    >>> in_python("/tmp/alike-python-x/rows.arrow, row 2: no column nope; is --text-field right?")
    'the table, row 1: no column nope; is text right?'
    """

    def sent(found: re.Match[str]) -> str:
        return "the table" + (f", row {int(found[1]) - 1}" if found[1] else "")

    def flag(found: re.Match[str]) -> str:
        return _ARGUMENTS.get(found[1], found[1].replace("-", "_"))

    return _FLAG.sub(flag, _SENT.sub(sent, message))


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the program as Ctrl-C does, which removes what it has not finished."""
    try:
        # Ctrl-C in a terminal reached it, too.
        child.wait(0.3)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class _Line:
    """One line that says how far the work is, where somebody looks: in a terminal, and in a notebook."""

    def __init__(self, wanted: bool | None) -> None:
        stream = sys.stderr
        if wanted is None:
            notebook = type(stream).__module__.startswith("ipykernel")
            wanted = stream is not None and (notebook or stream.isatty())
        self._stream = stream if wanted else None
        self._width = 0

    def show(self, event: dict[str, Any]) -> None:
        if self._stream is None or "stage" not in event:
            return
        done, total = event.get("done") or 0, event.get("total")
        share = f" {100 * done // total} %" if total else ""
        documents = event.get("documents") or 0
        told = f"alike: {event['stage']}{share}, {documents:,} documents, {event.get('seconds', 0.0):.0f} s"
        self._write("\r" + told.ljust(self._width))
        self._width = len(told)

    def clear(self) -> None:
        if self._stream is not None and self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _write(self, text: str) -> None:
        assert self._stream is not None
        self._stream.write(text)
        self._stream.flush()
