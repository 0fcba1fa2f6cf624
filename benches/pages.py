#!/usr/bin/env python3
"""What pages of a few sites cost beside mixed text, in any order and with any history: tables in Markdown.

    benches/pages.py ALIKE MIXED.jsonl PAGES.jsonl OTHERS.jsonl [RUNS]

PAGES are what a crawl of sites with templates leaves, in its order, such as the API pages; OTHERS any other texts, such as
statutes. Each command runs RUNS times (2), with two workers, the inputs in the page cache. Shown is the run with the fewest
seconds: its seconds, and seconds of CPU. Needs Linux, Python 3.9, and room for five times PAGES in the folder of temporary files.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = [
    "--threshold 0.8",
    "--threshold 0.8 --clustering transitive",
    "--threshold 0.7",
    "--threshold 0.7 --clustering transitive",
    "--threshold 0.5",
    "--threshold 0.5 --clustering transitive",
    "--preset news",
    "--preset short",
]
PARTS = 8


def timed(command):
    """Seconds, and seconds of CPU, of a command that must succeed."""
    begin = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime


class Bench:
    def __init__(self, alike, runs, folder):
        self.alike, self.runs, self.folder = alike, runs, folder

    def dedup(self, path, setting=""):
        command = [self.alike, "dedup", str(path), "--dry-run", "-w", "2", "--quiet", *setting.split()]
        return min(timed(command) for _ in range(self.runs))

    def loads(self, paths, into=None):
        """What it takes to load some files one after the other into a copy of a collection, or a new one."""
        best = None
        for _ in range(self.runs):
            at = self.folder / "collection"
            shutil.rmtree(at, ignore_errors=True)
            if into:
                shutil.copytree(into, at)
            sums = (0.0, 0.0)
            for path in paths:
                took = timed([self.alike, "load", str(at), str(path), "-w", "2", "--quiet"])
                sums = (sums[0] + took[0], sums[1] + took[1])
            best = min(best or sums, sums)
        return best


def write(path, lines):
    path.write_bytes(b"".join(lines))
    return path


def row(name, took):
    print(f"| {name} | {took[0]:.2f} | {took[1]:.2f} |", flush=True)


def head(title):
    print(f"\n| {title} | seconds | CPU |\n|---|---:|---:|", flush=True)


def settings(bench, mixed, pages, shuffled):
    print("| setting | mixed, s | CPU | pages, s | CPU | shuffled, s | CPU | CPU a byte, of mixed |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    times = os.path.getsize(mixed) / os.path.getsize(pages)
    for setting in SETTINGS:
        three = [bench.dedup(path, setting) for path in (mixed, pages, shuffled)]
        shown = " | ".join(f"{seconds:.2f} | {cpu:.2f}" for seconds, cpu in three)
        print(f"| `{setting}` | {shown} | {three[1][1] / three[0][1] * times:.1f} |", flush=True)


def main():
    alike, mixed, pages, others = sys.argv[1:5]
    runs = int(sys.argv[5]) if len(sys.argv) > 5 else 2
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory(prefix="alike-pages-") as folder:
        folder = Path(folder)
        bench = Bench(alike, runs, folder)
        rng = random.Random(15)
        of_pages = Path(pages).read_bytes().splitlines(keepends=True)
        of_others = Path(others).read_bytes().splitlines(keepends=True)
        among = of_pages + of_others
        rng.shuffle(among)
        mixed_up = list(of_pages)
        rng.shuffle(mixed_up)
        shuffled = write(folder / "shuffled.jsonl", mixed_up)
        settings(bench, mixed, pages, shuffled)
        head("order")
        row("pages in order", bench.dedup(pages))
        row("shuffled", bench.dedup(shuffled))
        for name, lines in (
            ("others before pages", of_others + of_pages),
            ("pages before others", of_pages + of_others),
            ("pages among others", among),
        ):
            row(name, bench.dedup(write(folder / "both.jsonl", lines)))
        head("history")
        row("one load, in order", bench.loads([pages]))
        row("one load, shuffled", bench.loads([shuffled]))
        step = -(-len(of_pages) // PARTS)
        parts = [
            write(folder / f"part{at}.jsonl", of_pages[at * step : (at + 1) * step]) for at in range(PARTS)
        ]
        row(f"{PARTS} loads, in order", bench.loads(parts))
        row(f"{PARTS} loads, the last part first", bench.loads(parts[::-1]))
        stored = folder / "others"
        timed([alike, "load", str(stored), others, "-w", "2", "--quiet"])
        row("into a collection of others, in order", bench.loads([pages], stored))
        row("into a collection of others, shuffled", bench.loads([shuffled], stored))
        head("processes")
        row("one process, two workers", bench.dedup(pages))
        sys.stdout.flush()
        command = [alike, "dedup", pages, "--dry-run", "-w", "1", "--quiet"]
        lines = [
            subprocess.run([sys.executable, str(here / "together.py"), "2", *command], check=True, capture_output=True, text=True)
            .stdout.split()
            for _ in range(runs)
        ]
        row("two processes, one worker each", min((float(line[0]), float(line[1])) for line in lines))


if __name__ == "__main__":
    main()
