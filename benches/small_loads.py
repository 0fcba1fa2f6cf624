#!/usr/bin/env python3
"""Loads of 10, 1, 0.1 and 0.01 % of a file into the rest of it, a deletion of 1 % and the same load again, beside `dedup` of all of it;
then what loads read from a cold cache, and what twenty loads of a twentieth each write. Tables in Markdown. Needs Linux, and room for
three collections below TMPDIR, which must be on the disk that is meant.

    benches/small_loads.py target/dist/alike mixed.jsonl [RUNS]

Each figure is the median of RUNS runs (5) on a fresh copy, by links, of the collection. Records need ids that are unique.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Parts in 10,000 of the records, and what may be asked of each: percent of `dedup` of all.
PARTS = {"10": (1000, 15), "1": (100, 2), "0.1": (10, 0.5), "0.01": (1, 0.3)}
TWENTY = 20


def scattered(number):
    """The finalizer of splitmix64: 64 bits that have no visible relation to the line number."""
    bits = number * 2 * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return bits ^ bits >> 31


def divide(source):
    out = {name: open(f"{name}.jsonl", "wb") for name in ["rest", *PARTS]}
    twenty = [open(f"t{at}.jsonl", "wb") for at in range(TWENTY)]
    with open(source, "rb") as lines, open("gone", "w") as gone:
        for number, line in enumerate(lines, 1):
            twenty[number % TWENTY].write(line)
            rest = scattered(number) % 10_000
            for name, (size, _) in PARTS.items():
                if rest < size:
                    out[name].write(line)
                    break
                rest -= size
            else:
                out["rest"].write(line)
                if scattered(number + 10**9) % 100 == 0:
                    gone.write(f"{json.loads(line)['id']}\n")
    for file in [*out.values(), *twenty]:
        file.close()


def once(*command):
    """Seconds, seconds of CPU, bytes read from the disk, bytes of pages made dirty."""
    begin = time.monotonic()
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], [*command, "--quiet"], os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    cpu = used.ru_utime + used.ru_stime
    return time.monotonic() - begin, cpu, used.ru_inblock * 512, used.ru_oublock * 512


def fresh(base, by_links=True):
    """A copy of a collection that nothing has happened to. Loads change no file but that of the lock."""
    shutil.rmtree("c", ignore_errors=True)
    copy = os.link if by_links else shutil.copy2
    if base:
        shutil.copytree(base, "c", copy_function=copy, ignore=shutil.ignore_patterns("lock"))
    os.sync()


def measured(runs, base, *command):
    costs = []
    for _ in range(runs):
        fresh(base)
        shutil.rmtree("out", ignore_errors=True)
        costs.append(once(*command))
    return statistics.median(cost[0] for cost in costs), statistics.median(cost[1] for cost in costs)


def bytes_of(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder))


def main():
    alike, source = (os.path.realpath(path) for path in sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory(prefix="alike-bench.") as folder:
        os.chdir(folder)
        divide(source)
        load = lambda input_: (alike, "load", "c", input_, "-w", "2")
        print("| | seconds | CPU | % of `dedup` |\n|---|---:|---:|---:|")
        whole, cpu = measured(runs, None, alike, "dedup", source, "--out", "out", "-w", "2")
        row = lambda name, cost, asked="": print(
            f"| {name} | {cost[0]:.3f} | {cost[1]:.3f} | {100 * cost[0] / whole:.2f}{asked} |")
        row("`dedup --out`", (whole, cpu))
        row("first load", measured(runs, None, *load(source)))
        os.rename("c", "all")
        row("the same load again", measured(runs, "all", *load(source)))
        row("reading: `dedup --method exact --dry-run`",
            measured(runs, None, alike, "dedup", source, "--method", "exact", "--dry-run", "-w", "2"))
        shutil.rmtree("all")
        fresh(None)
        once(*load("rest.jsonl"))
        os.rename("c", "rest")
        for name, (_, asked) in PARTS.items():
            row(f"{name} %", measured(runs, "rest", *load(f"{name}.jsonl")), f" (asked: {asked})")
        row("1 % deleted", measured(runs, "rest", alike, "delete", "c", "--ids", "gone", "-w", "2"), " (asked: 2)")
        print("\n| cold | seconds | MB read | % of the collection |\n|---|---:|---:|---:|")
        for name in ["1", "0.1", "0.01"]:
            fresh("rest", by_links=False)
            for entry in os.scandir("c"):
                file = os.open(entry.path, os.O_RDONLY)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)
            seconds, _, read, _ = once(*load(f"{name}.jsonl"))
            print(f"| {name} % | {seconds:.3f} | {read / 1e6:.1f} | {100 * read / bytes_of('rest'):.1f} |")
        fresh(None)
        costs = [once(*load(f"t{at}.jsonl")) for at in range(TWENTY)]
        told = json.loads(subprocess.check_output([alike, "info", "c", "--json"]))
        # A folder also has what was merged last, until the next commit.
        written, kept = sum(cost[3] for cost in costs), sum(run["bytes"] for run in told["runs"])
        print(f"\nTwenty loads: {sum(cost[0] for cost in costs):.2f} s, {written / 1e6:.1f} MB written, "
              f"{kept / 1e6:.1f} MB in {len(told['runs'])} runs: {written / kept:.2f} times.")


main()
