"""The program `alike`: found, run, watched and ended."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import numbers
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from ._errors import AlikeWarning, FailedError, UsageError, error_of
from ._work import LOCKS

Option = str | int | float | bool | os.PathLike[str] | Sequence[str] | None
"""A value of an option of the command line: True stands for the option alone, None and False for none at all."""

_SECONDS_TO_END = 5.0
# Options that change what the program prints, which this module reads.
_NOT_HERE = ("color", "dry_run", "format", "help", "json", "json_progress", "lists", "quiet")
# Options whose values stand in one list with commas.
_WITH_COMMAS = ("fields", "fold", "keep", "prefer", "stop_words")


@functools.cache
def program() -> str:
    """The path of the program. ALIKE_PROGRAM names another one.

    >>> import os
    >>> os.path.basename(alike.program())
    'alike'
    """
    named = os.environ.get("ALIKE_PROGRAM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise FailedError(f"ALIKE_PROGRAM names {named}, which is no program")
        return found
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


def flags(options: Mapping[str, Option], *, own: bool = False) -> list[str]:
    """Options of Python as those of the command line: `max_rejected=5` is `--max-rejected=5`. `own` ones are this
    module's, which may be any.
    """
    words: list[str] = []
    for name, value in options.items():
        name = name.rstrip("_").replace("-", "_")
        flag = "--" + name.replace("_", "-")
        if name in _NOT_HERE and not own:
            raise UsageError(f"{name} is for the command line, not for this module")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, numbers.Integral):
            words.append(f"{flag}={int(value)}")
        elif isinstance(value, numbers.Number):
            # As the program takes decimals: 0.6000000000000001 is 0.6.
            words.append(f"{flag}={decimal(value, name)}")
        elif isinstance(value, (str, os.PathLike)):
            words.append(f"{flag}={os.fspath(value)}")
        elif not isinstance(value, Iterable) or not all(isinstance(one, (str, os.PathLike)) for one in value):
            raise UsageError(f"{name}={value!r} is no text, no number and no list of texts")
        elif name in _WITH_COMMAS:
            words.append(f"{flag}={','.join(os.fspath(one) for one in value)}")
        else:
            words.extend(f"{flag}={os.fspath(one)}" for one in value)
    return words


def decimal(value: Any, name: str = "threshold") -> str:
    """A number with six digits at most.

    >>> from alike._program import decimal
    >>> decimal(0.1 + 0.2), decimal(1e-5), decimal(1)
    ('0.3', '0.00001', '1')
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{name}={value!r} is no number") from error
    written = f"{number:.6f}".rstrip("0").rstrip(".")
    # A share that is not all is never taken for all, nor one of something for nothing.
    if written in ("0", "1") and float(written) != number:
        raise UsageError(f"{name}={value!r} has more than six digits behind the point")
    return written


def run(
    words: Sequence[str],
    operands: Sequence[str],
    *,
    given: IO[bytes] | None = None,
    progress: bool | None = None,
    watched: bool = False,
    cwd: str | None = None,
) -> IO[bytes]:
    """Runs a command with options on operands, which may begin with a dash, and returns what it printed. `watched` if the
    command has --json-progress.

    Raises an AlikeError if it ends with an error. Whatever ends the wait ends the program, too.
    """
    arguments = [program(), *words, *(["--json-progress"] if watched else []), "--", *operands]
    printed = tempfile.TemporaryFile()
    try:
        child = _started(arguments, given, printed, cwd)
    except OSError as error:
        printed.close()
        raise FailedError(f"{arguments[0]} cannot be started: {error.strerror}") from error
    except ValueError as error:
        # A NUL, or half of a character: no argument of a program has these.
        printed.close()
        raise UsageError(f"a name or an option cannot be handed to the program: {error}") from error
    line = _Line(progress)
    try:
        told = _listen(child, line)
        code = child.wait()
    except BaseException:
        _end(child)
        printed.close()
        raise
    finally:
        line.clear()
        if child.stderr is not None:
            child.stderr.close()
    if code != 0:
        printed.close()
    if code in (-signal.SIGINT, 130):
        raise KeyboardInterrupt
    if code != 0:
        raise error_of(code, told)
    printed.seek(0)
    return printed


def _started(arguments: list[str], given: IO[bytes] | None, printed: IO[bytes], cwd: str | None) -> subprocess.Popen[bytes]:
    """The program at work."""
    attempts = 5
    while True:
        try:
            return subprocess.Popen(
                arguments,
                stdin=given if given is not None else subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                env={**os.environ, "NO_COLOR": "1"},
                cwd=cwd,
                pass_fds=tuple(LOCKS),
            )
        except OSError as error:
            attempts -= 1
            # Another thread has closed one of its locks meanwhile.
            if error.errno != errno.EBADF or attempts == 0:
                raise


def rows(words: Sequence[str], operands: Sequence[str], *, given: IO[bytes] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of JSON that a command prints, one by one. The command has ended before the first."""
    printed = run([*words, "--format=jsonl"], operands, given=given)

    def each() -> Iterator[dict[str, Any]]:
        with printed:
            for line in printed:
                yield json.loads(line)

    return each()


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
            warn(said[warning.end() :])
        elif said:
            errors.append(said.removeprefix("alike: ").removeprefix("error: "))
    return in_python("\n".join(errors))


_WARNING = re.compile(r"(alike: )?warning: ")
_SENT = re.compile(r"[^\s\"]*/alike-python-[^/]*/[a-z0-9-]+\.(?:arrow|jsonl)(?:(?:, (?:row|line) |:)(\d+))?")
_FLAG = re.compile(r"(?<![^\s('\"])--([a-z]+(?:-[a-z]+)*)")
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

    # How the command line is used is no help here.
    message = message.split("\nUsage: ")[0].rstrip()
    # Between backticks stands a command, as a shell takes it.
    pieces = _SENT.sub(sent, message).split("`")
    return "`".join(piece if at % 2 else _FLAG.sub(flag, piece) for at, piece in enumerate(pieces))


def warn(message: str) -> None:
    """Warns, at the line of whoever called this module."""
    here = os.path.dirname(__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame, level = frame.f_back, level + 1
    warnings.warn(in_python(message), AlikeWarning, stacklevel=level)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the program as Ctrl-C does, which removes what it has not finished; for good, if that takes too long."""
    try:
        # Ctrl-C in a terminal reached it, too.
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.3)
        if child.poll() is None:
            child.terminate()
            child.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Another Ctrl-C comes here, too.
        if child.poll() is None:
            child.kill()
            child.wait()


class _Line:
    """One line that says how far the work is, where somebody looks: in a terminal, and in a notebook."""

    def __init__(self, wanted: bool | None) -> None:
        stream = sys.stderr
        if wanted is None:
            notebook = type(stream).__module__.startswith("ipykernel")
            terminal = getattr(stream, "isatty", None)
            wanted = stream is not None and (notebook or bool(terminal and terminal()))
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
