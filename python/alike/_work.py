"""Temporary folders that are removed with their last user, and at the latest by the next process that makes one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path

_PREFIX = "alike-python-"
_LOCK = ".lock"


class Folder:
    """A private folder for what is sent to the program and what it writes."""

    path: Path

    def __init__(self) -> None:
        _remove_dead()
        while True:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_there(path / _LOCK, lock):
                break
            # Another process took it for a dead one before it was locked.
            os.close(lock)
        self.path = path
        self._runs = 0
        self._end = weakref.finalize(self, _remove, path, lock, os.getpid())

    def run(self) -> Path:
        """A path in it at which there is nothing yet."""
        self._runs += 1
        return self.path / f"out-{self._runs}"


def _remove(path: Path, lock: int, owner: int) -> None:
    # A forked child has the object, too, but the folder is not its own.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
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
