"""Every name of the module has a docstring, types and an example that runs; `import alike` brings nothing heavy."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import alike

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "licences.jsonl"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def documented() -> Iterator[tuple[str, Any]]:
    yield "alike", alike
    for name in alike.__all__:
        if name == "__version__":
            continue
        thing = getattr(alike, name)
        yield name, thing
        if inspect.isclass(thing) and not issubclass(thing, (Exception, Warning)):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    yield f"{name}.{member}", value


NAMES = dict(documented())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_documented(name: str) -> None:
    text = inspect.getdoc(NAMES[name])
    assert text and text.rstrip().count(".") > 0, name


def examples(name: str) -> list[doctest.DocTest]:
    thing = NAMES[name]
    if isinstance(thing, property):
        thing = thing.fget
    text = inspect.getdoc(thing) or ""
    test = doctest.DocTestParser().get_doctest(text, {"alike": alike}, name, None, None)
    return [test] if test.examples else []


def is_function(thing: Any) -> bool:
    return callable(thing) and not (inspect.isclass(thing) and issubclass(thing, (Exception, Warning)))


@pytest.mark.parametrize("name", NAMES)
def test_its_example_runs(name: str, tmp_path: Path) -> None:
    found = examples(name)
    if not found:
        # Exceptions and plain attributes need none.
        assert not is_function(NAMES[name]), f"{name} has no example"
        return
    for test in found:
        text = test.docstring or ""
        if "frame" in text:
            pyarrow = pytest.importorskip("pyarrow")
            lines = SAMPLE.read_text(encoding="utf-8").splitlines()
            test.globs["frame"] = pyarrow.Table.from_pylist([json.loads(line) for line in lines])
        test.globs["folder"] = tmp_path
        if "to_polars" in text:
            pytest.importorskip("polars")
        if "to_pandas" in text:
            pytest.importorskip("pandas")
        if "to_arrow" in text:
            pytest.importorskip("pyarrow")
        told: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=told.append)
        assert runner.failures == 0, "".join(told)


def test_importing_it_brings_nothing_heavy() -> None:
    code = "import sys, alike; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_types_are_those_of_the_stub() -> None:
    stub = (Path(alike.__file__).parent / "_alike.pyi").read_text(encoding="utf-8")
    from alike import _alike

    for name in dir(_alike.Rows):
        if not name.startswith("__"):
            assert f"def {name}(" in stub, name
    for name in dir(_alike):
        if not name.startswith("__"):
            assert f"def {name}(" in stub or f"class {name}" in stub, name
