#!/usr/bin/env python3
"""Text that machines have: each folder as a corpus, a document a file, beside the mixed corpus at the same settings.

    benches/natural.py PROGRAM mixed.jsonl FOLDER:.EXT...
    benches/natural.py target/dist/alike mixed.jsonl ~/.cargo/registry/src:.rs "$(rustc --print sysroot)/share/doc/rust/html:.html"

Folders are read in their order, as a crawl comes, once, and kept as JSON Lines beside each other in a temporary folder. Prints a row
of Markdown for each corpus and setting: seconds, seconds of processors, MB at the peak, and how much longer a byte takes than of
the mixed corpus, by the clock and by processors. Run it on a quiet machine.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SETTINGS = [
    "--threshold 0.8",
    "--threshold 0.7",
    "--threshold 0.5",
    "--threshold 0.5 --clustering transitive",
    "--preset news",
    "--preset short",
]


def gather(folder, ending, out):
    """Writes the files of a folder as documents; how many there are."""
    count = 0
    with open(out, "w", encoding="utf-8") as lines:
        for place, folders, names in os.walk(os.path.expanduser(folder)):
            folders.sort()
            for name in sorted(name for name in names if name.endswith(ending)):
                path = os.path.join(place, name)
                try:
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                except (OSError, UnicodeDecodeError):
                    continue
                count += 1
                lines.write(json.dumps({"id": path, "text": text}, ensure_ascii=False) + "\n")
    return count


def run(program, corpus, setting, out):
    """Seconds, seconds of processors, megabytes."""
    shutil.rmtree(out, ignore_errors=True)
    command = [program, "dedup", corpus, "--out", out, "-w", "2", "--quiet", *setting.split()]
    begun = time.monotonic()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program, mixed, *folders = sys.argv[1:]
    print("| corpus | documents | MB | setting | seconds | CPU | MB at the peak | a byte | CPU a byte |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        corpora = [("mixed", None, mixed)]
        for at, asked in enumerate(folders):
            folder, _, ending = asked.rpartition(":")
            path = os.path.join(scratch, f"{at}.jsonl")
            corpora.append((ending, gather(folder, ending, path), path))
        usual = {}
        for name, count, path in corpora:
            megabytes = os.path.getsize(path) / 1e6
            for setting in SETTINGS:
                seconds, processors, peak = run(program, path, setting, os.path.join(scratch, "out"))
                a_byte = (seconds / megabytes, processors / megabytes)
                usual.setdefault(setting, a_byte)
                times = [own / other for own, other in zip(a_byte, usual[setting])]
                print(
                    f"| {name} | {count or ''} | {megabytes:.0f} | `{setting}` | {seconds:.2f} | {processors:.2f} "
                    f"| {peak:.0f} | {times[0]:.2f} | {times[1]:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
