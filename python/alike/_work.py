"""Temporary folders that are removed with their last user, and at the latest by the next process that makes one."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
import weakref
from pathlib import Path

_PREFIX = "alike-python-"
_LOCK = ".lock"

LOCKS: set[int] = set()
"""The locks of this process. Programs get them, too: a folder is not dead while one of them goes on without its Python."""


class Folder:
    """A private folder for what is sent to the program and what it writes."""

    path: Path

    def __init__(self, of: str | None = None) -> None:
        """A folder of a name that nobody has; of that of work `of` a kind, if no other process is at it."""
        _remove_dead()
        while True:
            path = _named(of) or Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_there(path / _LOCK, lock):
                break
            # Another process took it for a dead one before it was locked.
            os.close(lock)
            of = None
        self.path = path
        LOCKS.add(lock)
        self._end = weakref.finalize(self, _remove, path, lock, os.getpid())

    def end(self) -> None:
        """Removes it now."""
        self._end()

    def run(self) -> Path:
        """A path in it at which there is nothing yet."""
        return self.path / f"out-{secrets.token_hex(8)}"

    def __reduce__(self) -> str:
        raise TypeError(
            "a result lives in a temporary folder of its process: hand over its tables, like kept.to_arrow(), or use out="
        )


def _named(of: str | None) -> Path | None:
    """A new folder whose name says what work it is for; none if there is one already."""
    if of is None:
        return None
    digest = hashlib.sha256(f"{os.getuid()}:{of}".encode(errors="surrogateescape")).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"{_PREFIX}{digest}"
    try:
        path.mkdir(mode=0o700)
    except OSError:
        return None
    return path


def _remove(path: Path, lock: int, owner: int) -> None:
    # A forked child has the object, too, but the folder is not its own.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
    LOCKS.discard(lock)
    os.close(lock)


def _is_there(path: Path, lock: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(lock).st_ino
    except FileNotFoundError:
        return False


def _remove_dead() -> None:
    """Removes folders whose process was killed: nobody holds their locks."""
    for path in Path(tempfile.gettempdir()).glob(_PREFIX + "*"):
        try:
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            # Somebody else's, or not locked yet.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(lock)
