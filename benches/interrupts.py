#!/usr/bin/env python3
"""How soon commands end that are interrupted: each is run once, and then again with SIGINT or SIGTERM at moments spread
over the time it took. Prints the longest wait of each, and ends with 1 if one was longer than a second.

    benches/interrupts.py ALIKE IN.jsonl [MOMENTS] [COMMAND...]

IN.jsonl has records with ids. A collection and an output of it are made in a temporary folder.
"""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST = 1.0


def commands(alike, records):
    """By name: the command line, and whether it changes the collection or writes `out`."""
    check = f"exec {alike} check c - < {records}"
    return {
        "dedup": ([alike, "dedup", records, "--out", "out"], True),
        "load": ([alike, "load", "new", records], True),
        "delete": ([alike, "delete", "copy", "--ids", "ids", "--max-delete", "100"], True),
        "compact": ([alike, "compact", "copy"], True),
        "fsck": ([alike, "fsck", "c"], False),
        "export": ([alike, "export", "c", "--out", "out"], True),
        "recluster": ([alike, "recluster", "c", "--threshold", "0.85"], False),
        "recluster-guarantee": ([alike, "recluster", "c", "--clustering", "guarantee"], False),
        "pairs": ([alike, "pairs", "c"], False),
        "group": ([alike, "group", "c", "ids"], False),
        "check": (["sh", "-c", check], False),
        "evaluate": ([alike, "evaluate", records, "--preset", "broder1997"], False),
        "tune-sample": ([alike, "tune", "sample", records], False),
        "lexicon": ([alike, "lexicon", "build", records, "--out", "out"], True),
        "launch": ([alike, "launch", "-n", "2", "--", "dedup", records, "--out", "out"], True),
        "dedup-transitive": (
            [alike, "dedup", records, "--out", "out", "--clustering", "transitive", "--threshold", "0.5"],
            True,
        ),
        "dedup-report": ([alike, "dedup", records, "--dry-run", "--report", "out"], True),
        "dedup-kinds": ([alike, "dedup", records, "--dry-run", "--kinds"], False),
        "dedup-containment": ([alike, "dedup", records, "--dry-run", "--measure", "containment"], False),
        "load-against": ([alike, "load", "new", records, "--against", "half.jsonl"], True),
        "passages": ([alike, "passages", records, "--out", "out"], True),
        "passages-substrings": ([alike, "passages", records, "--out", "out", "--unit", "tokens:50"], True),
        "repetition": ([alike, "repetition", records, "--out", "out"], True),
        "decontaminate": ([alike, "decontaminate", records, "--benchmarks", "half.jsonl", "--out", "out"], True),
        "tune-threshold": ([alike, "tune", "threshold", records], False),
        "tune-sampling": (
            [alike, "tune", "sampling", records, "--threshold", "0.85", "--precision", "0.85"],
            False,
        ),
        "report": ([alike, "report", "c", "--out", "out"], True),
        "report-of-output": ([alike, "report", "done", "--out", "out"], True),
        "show-of-output": ([alike, "show", "done", "1"], False),
        "explain-of-output": ([alike, "explain", "done", f"{records}:1", f"{records}:2"], False),
    }


def fresh(folder):
    """The collection as it was, and nothing that an earlier run wrote."""
    for name in ["out", "new", "copy"]:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)
    shutil.copytree(folder / "c", folder / "copy")


def waits(line, changes, folder, moments):
    """How long a command takes, and how long it goes on after it was interrupted at each moment."""
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if changes:
        fresh(folder)
    begun = time.time()
    subprocess.run(line, check=True, **quiet)
    whole, found = time.time() - begun, []
    for moment in range(moments):
        if changes:
            fresh(folder)
        process = subprocess.Popen(line, **quiet)
        time.sleep(whole * (moment + 0.7) / (moments + 0.5))
        begun = time.time()
        process.send_signal([signal.SIGINT, signal.SIGTERM][moment % 2])
        process.wait()
        found.append(time.time() - begun)
    return whole, found


def main():
    alike, records = (str(Path(name).resolve()) for name in sys.argv[1:3])
    moments = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    late = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([alike, "load", "c", records, "--quiet"], cwd=folder, check=True)
        subprocess.run([alike, "dedup", records, "--out", "done", "--quiet"], cwd=folder, check=True)
        with (
            open(records, encoding="utf-8") as lines,
            open(folder / "ids", "w", encoding="utf-8") as ids,
            open(folder / "half.jsonl", "w", encoding="utf-8") as half,
        ):
            for at, line in enumerate(lines):
                if at % 4 == 0:
                    ids.write(json.loads(line)["id"] + "\n")
                if at % 2 == 0:
                    half.write(line)
        for what, (line, changes) in commands(alike, records).items():
            if len(sys.argv) > 4 and what not in sys.argv[4:]:
                continue
            whole, found = waits(line, changes, folder, moments)
            print(f"{what:<20} takes {whole:5.1f} s, ends {max(found):.2f} s after an interrupt at most", flush=True)
            late |= max(found) > MOST
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
