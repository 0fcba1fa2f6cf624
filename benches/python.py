#!/usr/bin/env python3
"""What the Python module costs: `alike.dedup` of a polars frame of short texts beside the program on the same rows as Parquet.

    benches/python.py [ROWS]

Needs an environment with the wheel (packaging/wheel) and polars. Prints the best of three runs of each, taken in turns, in
seconds and in seconds of CPU of both processes; how much memory Python took beyond the frame; and how long `alike --version`
and `import alike` take, the median of twenty.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import alike


def texts(rows: int) -> pl.DataFrame:
    """Short texts like titles and posts, one in ten a near-duplicate of one before."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(50_000)]
    made: list[str] = []
    for at in range(rows):
        if at > 100 and draw.random() < 0.1:
            made.append(made[draw.randrange(at)] + " " + draw.choice(words))
        else:
            made.append(" ".join(draw.choices(words, k=draw.randint(8, 24))))
    return pl.DataFrame({"id": [str(at) for at in range(rows)], "text": made})


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """The most memory that this process had since it was last asked, in bytes."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(work: object) -> tuple[float, float]:
    seconds, used = time.perf_counter(), cpu()
    work()  # type: ignore[operator]
    return time.perf_counter() - seconds, cpu() - used


def start_up(command: list[str]) -> float:
    runs = []
    for _ in range(20):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        runs.append(time.perf_counter() - begun)
    return 1000 * statistics.median(runs)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    frame = texts(rows)
    with tempfile.TemporaryDirectory() as folder:
        parquet = Path(folder, "rows.parquet")
        frame.write_parquet(parquet, row_group_size=100_000)
        size = frame["text"].str.len_bytes().sum()
        print(f"{rows:,} rows, {size / 1e6:.1f} MB of text, {frame['text'].str.len_bytes().mean():.0f} bytes each")
        ways = {
            "program, Parquet, kept as Parquet": ["--out"],
            "program, Parquet, only ids": ["--to", "ids", "--out"],
        }
        best: dict[str, tuple[float, float]] = {}

        def program(words: list[str], turn: int) -> None:
            out = Path(folder, f"out-{len(words)}-{turn}")
            lists = ["--assignments", "--lists", "parquet"]
            subprocess.run([alike.program(), "dedup", "--quiet", str(parquet), *lists, *words, str(out)], check=True)

        found: list[alike.Result] = []

        def module() -> None:
            found[:] = [alike.dedup(frame)]

        more = 0

        def watched() -> None:
            nonlocal more
            # What making the rows left is given back, so that nothing hides in it.
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)
            before = resident()
            Path("/proc/self/clear_refs").write_text("5")
            module()
            more = max(more, peak() - before)

        for turn in range(3):
            for name, words in ways.items():
                best[name] = min(best.get(name, (9e9, 0.0)), timed(lambda words=words, turn=turn: program(words, turn)))
            best["alike.dedup(frame)"] = min(best.get("alike.dedup(frame)", (9e9, 0.0)), timed(watched))
        begun = time.perf_counter()
        kept = found[0].kept.to_polars()
        reading = time.perf_counter() - begun
        for name, (seconds, used) in best.items():
            print(f"{name:36} {seconds:6.2f} s {used:6.2f} s of CPU")
        ours = best["alike.dedup(frame)"][0]
        print(f"alike.dedup takes {ours / best['program, Parquet, kept as Parquet'][0]:.2f} times the program")
        print(f"its kept as a frame of {kept.height:,} rows: {reading:.2f} s")
        print(f"Python took {more / 1e6:.1f} MB beyond the frame")
    print(f"alike --version: {start_up([alike.program(), '--version']):.1f} ms")
    bare = start_up([sys.executable, "-c", "pass"])
    print(f"import alike: {start_up([sys.executable, '-c', 'import alike']) - bare:.1f} ms, beyond Python's {bare:.1f}")


if __name__ == "__main__":
    main()
