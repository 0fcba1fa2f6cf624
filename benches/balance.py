#!/usr/bin/env python3
"""Loads FILE.jsonl into new collections as several processes of one worker each, all on this machine, each with a state of its
own: seconds, how much memory each process holds at most, and what crosses between them. Rows of a Markdown table.

    benches/short_texts.py 20000000 short.jsonl
    benches/balance.py target/dist/alike short.jsonl [--processes 2 4] [--memory SIZE]

Compares what the collections hold with that of one process. Needs Linux and room for two collections.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from together import free


def load(program, file, processes, flags, folder):
    """Seconds, CPU seconds, peak bytes of each process, and bytes that all have sent."""
    state = os.path.join(folder, "state")
    command = [program, "load", os.path.join(folder, "c"), file, "-w", "1", *flags, "--json-progress"]
    environment = dict(os.environ)
    if processes > 1:
        environment.update(ALIKE_ADDRESSES=free(processes), ALIKE_SECRET=os.urandom(16).hex())
        command += ["--local-state", state]
    begun, children = time.monotonic(), []
    for index in range(processes):
        own = dict(environment, ALIKE_PROCESS=str(index)) if processes > 1 else environment
        errors = tempfile.TemporaryFile("w+")
        child = subprocess.Popen(command, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        children.append((child, errors))
    peaks, cpu, sent = {}, 0.0, 0
    for _ in children:
        pid, status, usage = os.wait4(-1, 0)
        peaks[pid] = usage.ru_maxrss * 1024
        cpu += usage.ru_utime + usage.ru_stime
        if status != 0:
            sys.exit(f"balance.py: a process of {processes} ended with status {status}")
    seconds = time.monotonic() - begun
    for child, errors in children:
        child.returncode = 0
        errors.seek(0)
        for line in errors:
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == "epoch":
                sent += event["wire_sent_bytes"]
    return seconds, cpu, [peaks[child.pid] for child, _ in children], sent


def held(program, folder, processes):
    """What a collection holds, but for how it is written down."""
    state = ["--local-state", os.path.join(folder, "state")] if processes > 1 else []
    told = subprocess.run(
        [program, "stats", os.path.join(folder, "c"), "--json", *state], check=True, capture_output=True
    ).stdout
    stats = json.loads(told)
    return {key: value for key, value in stats.items() if key not in ("bytes", "runs", "tables")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("file", metavar="FILE.jsonl")
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--memory", default="4G", help="--memory of each process [%(default)s]")
    parser.add_argument("--epoch", help="--epoch of the loads")
    args = parser.parse_args()
    text = sum(len(json.loads(line)["text"].encode()) for line in open(args.file, encoding="utf-8"))
    print(f"{text} bytes of text; --memory {args.memory} each\n")
    print("| processes | seconds | CPU | peak MB of each | first against the most of the others | sent, bytes a byte of text |")
    print("|---:|---:|---:|---|---:|---:|")
    flags = ["--memory", args.memory, *(["--epoch", args.epoch] if args.epoch else [])]
    expected = None
    for processes in [1, *args.processes]:
        folder = tempfile.mkdtemp(prefix="alike-bench.")
        try:
            seconds, cpu, peaks, sent = load(args.program, args.file, processes, flags, folder)
            found = held(args.program, folder, processes)
        finally:
            shutil.rmtree(folder)
        expected = expected or found
        if found != expected:
            sys.exit(f"balance.py: {processes} processes hold {found}, one {expected}")
        others = f"{peaks[0] / max(peaks[1:]):.2f}" if processes > 1 else ""
        each = ", ".join(f"{peak / 1e6:.0f}" for peak in peaks)
        print(f"| {processes} | {seconds:.1f} | {cpu:.1f} | {each} | {others} | {sent / text:.2f} |", flush=True)


main()
