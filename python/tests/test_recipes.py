"""The recipes of the book run as they stand, with the real packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/src/how-to/use-from-python.md", ROOT / "python/README.md"]


def recipes() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        title = page.stem
        for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            title = part.splitlines()[0]
            found += [(title, code) for code in re.findall(r"^```python\n(.*?)^```", part, re.MULTILINE | re.DOTALL)]
    return found


def test_there_are_recipes() -> None:
    assert len(recipes()) == 10


@pytest.mark.parametrize(("title", "code"), recipes(), ids=[title for title, _ in recipes()])
def test_it_runs(title: str, code: str, tmp_path: Path) -> None:
    needed = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
    for name in needed:
        if util.find_spec(name) is None:
            # Spark is the one that is too large for every run.
            assert name == "pyspark" or "ALIKE_ALL_LIBRARIES" not in os.environ, f"{name} is not installed"
            pytest.skip(f"{name} is not installed")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.glob("alike-python-*")] == []
