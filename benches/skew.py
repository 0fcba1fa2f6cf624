#!/usr/bin/env python3
"""How evenly two processes of one worker share uneven work; prints a table in Markdown.

    cargo build --profile dist && benches/skew.py FILE.jsonl MASS.jsonl [--alike PATH]

FILE is any large JSONL file, MASS what `benches/near_copies.py` makes. Each row is one `dedup` of
- FILE as it is: one huge file;
- FILE in 64 files of very unequal size;
- FILE with one document of 64 MB in the middle of it;
- MASS: a page with 100,000 near-copies, so hot keys;
- FILE while process 1 is stopped nine tenths of the time: a slow process.
Seconds and CPU seconds of each process, the units of input that each took, and the share of the time of the slower one
in which the other had nothing to do, by CPU. Needs Linux and Python 3.9, and two cores with nothing else to do.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request


def free(count):
    """Ports that nobody listens on now."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def watch(port, units, index):
    """Reads a process's counter of units until the process is gone."""
    while True:
        try:
            text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=1).read().decode()
            found = re.search(r"^alike_units_total\S* (\d+)", text, re.M)
            units[index] = int(found.group(1)) if found else units[index]
        except OSError:
            if units[index] < 0:
                return
        time.sleep(0.02)


def slow(pid, ended):
    """Stops a process nine tenths of the time."""
    while not ended.is_set():
        for sign, pause in ((signal.SIGSTOP, 0.09), (signal.SIGCONT, 0.01)):
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                return
            time.sleep(pause)


def run(alike, inputs, out, hinder=False):
    """One job: its seconds, CPU seconds and units of each process."""
    shutil.rmtree(out, ignore_errors=True)
    ports, metrics = free(2), free(2)
    of_all = dict(os.environ, ALIKE_ADDRESSES=",".join(f"127.0.0.1:{port}" for port in ports))
    of_all["ALIKE_SECRET"] = os.urandom(16).hex()
    units, pids, ended = [0, 0], [], threading.Event()
    command = [alike, "dedup", *inputs, "--out", out, "-w", "1", "--quiet"]
    begin = time.monotonic()
    for index in range(2):
        own = dict(of_all, ALIKE_PROCESS=str(index))
        given = [*command, "--metrics", f"127.0.0.1:{metrics[index]}"]
        pids.append(subprocess.Popen(given, env=own, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)
        threading.Thread(target=watch, args=(metrics[index], units, index), daemon=True).start()
    if hinder:
        threading.Thread(target=slow, args=(pids[1], ended), daemon=True).start()
    cpu = {}
    for _ in pids:
        pid, status, usage = os.wait4(-1, 0)
        assert status == 0, f"process {pids.index(pid)} failed"
        cpu[pid] = usage.ru_utime + usage.ru_stime
    ended.set()
    return time.monotonic() - begin, [cpu[pid] for pid in pids], units


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("mass")
    parser.add_argument("--alike", default="target/dist/alike")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = open(asked.file, encoding="utf-8").readlines()
        uneven = os.path.join(folder, "uneven")
        os.mkdir(uneven)
        at, share = 0, len(lines) // 2
        for number in range(64):
            some = lines[at : at + share] if number < 63 else lines[at:]
            at, share = at + len(some), max(1, len(lines) // 128 if number % 7 else len(lines) // 512)
            with open(os.path.join(uneven, f"{number}.jsonl"), "w", encoding="utf-8") as part:
                part.writelines(some)
        huge = os.path.join(folder, "huge.jsonl")
        with open(huge, "w", encoding="utf-8") as whole:
            whole.writelines(lines[: len(lines) // 2])
            words = " ".join(f"w{number:x}" for number in range(9_000_000))
            whole.write(json.dumps({"id": "huge", "text": words[: 64 << 20]}) + "\n")
            whole.writelines(lines[len(lines) // 2 :])
        out = os.path.join(folder, "out")
        rows = [
            ("one huge file", [asked.file], False),
            ("64 files of unequal size", [uneven], False),
            ("one document of 64 MB", [huge], False),
            ("100,000 near-copies of a page", [asked.mass], False),
            ("process 1 stopped nine tenths of the time", [asked.file], True),
        ]
        print("| work | seconds | CPU seconds of the two | units taken by each | idle |")
        print("|---|---|---|---|---|")
        for name, inputs, hinder in rows:
            seconds, cpu, units = min(run(asked.alike, inputs, out, hinder) for _ in range(3))
            idle = 1 - min(cpu) / max(cpu)
            print(f"| {name} | {seconds:.2f} | {cpu[0]:.2f}, {cpu[1]:.2f} | {units[0]}, {units[1]} | {idle:.0%} |", flush=True)


main()
