"""What tests and the examples in docstrings start from. They run at the root of the repository."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "licences.jsonl"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    # What is left behind is seen.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def left(tmp_path: Path) -> Any:
    """What lies in the temporary folder."""
    return lambda: sorted(name for name in os.listdir(tmp_path) if name.startswith(("alike", ".", "tmp")))


@pytest.fixture
def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
