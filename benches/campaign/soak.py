#!/usr/bin/env python3
"""The work of benches/soak.sh: PROGRAM STATE MINUTES GB. See there."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from campaign import MIB, Fault, Program, most_memory, partition
from soak_places import GIB, Disk, Machines

FLAGS = ["--threshold", "0.8", "--store-text"]
MEMORY = 512
# Documents of a load while the collection grows, and later.
GROWING, LATER = 60_000, 6_000
SENTENCES, KIN = 40, 4
# Bytes on disk of a document, about: its text, its record, and what is made of it.
BYTES = 8_000
FAULTS = ["none", "kill", "kill", "stop", "full", "machine"]


def text(number, version):
    """The text of a document in some version. Four documents are kin; how many sentences a version has of its own
    decides which of them are alike."""
    common, own = random.Random(number // KIN), random.Random(number * 1000 + version)
    sentences = [common.getrandbits(40) for _ in range(SENTENCES)]
    for _ in range(own.randrange(7)):
        sentences[own.randrange(SENTENCES)] = own.getrandbits(40)
    return " ".join(f"a{n:x} b{n:x} c{n:x} d{n:x} e{n:x}" for n in sentences)


class Soak:
    """The state of it all. `live` has, of each document, the load that first brought it and its version."""

    def __init__(self, program, state, size):
        self.state, self.size = Path(state), size
        self.state.mkdir(parents=True, exist_ok=True)
        self.disk, self.machines = Disk(self.state, size * 12), Machines()
        self.work = self.disk.path / "w"
        self.work.mkdir(exist_ok=True)
        self.program = Program(Path(program).resolve(), self.work)
        self.live, self.loads, self.rounds, self.pending, self.spent = {}, 0, 0, None, 0.0
        self.faults, self.watched, self.read, self.next = {}, [], 0, 0
        self.begun, self.over = time.monotonic(), threading.Event()
        self.resume()

    # --- what is kept between runs

    def resume(self):
        """Goes on where an earlier run was."""
        path = self.state / "state.json"
        if path.exists():
            kept = json.loads(path.read_text())
            self.live = {int(number): tuple(value) for number, value in kept.pop("live").items()}
            vars(self).update(kept)

    def save(self):
        """Keeps all of it, at once or not at all."""
        names = ("live", "loads", "rounds", "pending", "faults", "watched", "read", "next")
        kept = {name: getattr(self, name) for name in names}
        kept["spent"] = self.spent + time.monotonic() - self.begun
        partial = self.state / "state.partial"
        partial.write_text(json.dumps(kept))
        partial.rename(self.state / "state.json")

    # --- rounds

    def plan(self):
        """What the next round does: a kind, and of a load which documents in which versions."""
        drawn = random.Random(self.rounds)
        grown = len(self.live) * BYTES >= self.size * GIB
        kind = "load"
        if self.live and self.rounds % 5 == 4:
            kind = drawn.choice(["delete", "compact", "fsck"])
        self.pending = {"kind": kind, "round": self.rounds, "fault": drawn.choice(FAULTS), "changes": {}}
        known = drawn.sample(sorted(self.live), min(len(self.live), LATER)) if self.live else []
        changes = self.pending["changes"]
        if kind == "load":
            for number in known:
                changes[number] = None if drawn.random() < (0.6 if grown else 0.1) else self.live[number][1] + 1
            # Once it has grown as many come as go, however many rounds an hour has.
            new = sum(version is None for version in changes.values()) if grown else GROWING
            changes.update(dict.fromkeys(range(self.next, self.next + new), 0))
        if kind == "delete":
            changes.update(dict.fromkeys(known[: LATER // 2]))

    def write(self):
        """The input of the round."""
        changes = self.pending["changes"]
        with open(self.work / "input", "w", encoding="utf-8") as out:
            for number, version in changes.items():
                if self.pending["kind"] == "delete":
                    out.write(f"{number}\n")
                elif version is None:
                    out.write(f'{{"op":"delete","id":"{number}"}}\n')
                else:
                    out.write(f'{{"id":"{number}","text":"{text(int(number), version)}"}}\n')

    def words(self):
        """The command of the round."""
        machine = ["--memory", f"{MEMORY}M", "-w", "2"]
        return {
            "load": [
                "load",
                "c",
                "input",
                "--input-format",
                "jsonl",
                "--max-delete",
                "100",
                "--quiet",
                *FLAGS,
                *machine,
            ],
            "delete": ["delete", "c", "--ids", "input", "--max-delete", "100", "--quiet", *machine],
            "compact": ["compact", "c", "--quiet"],
            "fsck": ["fsck", "c"],
        }[self.pending["kind"]]

    def round(self):
        """One command, with its fault, until it has succeeded; then the model follows."""
        if self.pending is None:
            self.plan()
            self.save()
        self.write()
        fault = self.pending["fault"]
        if (fault == "full" and not self.disk.bounded) or (fault == "machine" and not self.machines.there):
            fault = "none"
        if self.pending["kind"] == "fsck":
            fault = "none"
        getattr(self, f"with_{fault}")(self.words())
        self.faults[fault] = self.faults.get(fault, 0) + 1
        if self.pending["kind"] in ("load", "delete"):
            self.loads += 1
        for number, version in self.pending["changes"].items():
            number = int(number)
            first = self.live.pop(number, (self.loads, 0))[0]
            if version is not None:
                self.live[number] = (first, version)
            self.next = max(self.next, number + 1)
        self.rounds, self.pending = self.rounds + 1, None
        self.save()

    def with_none(self, words):
        self.finish(words)

    def finish(self, words):
        """A command that has to succeed; its memory and descriptors are noted."""
        process = self.program.start(words)
        most = [0]
        watch = threading.Thread(target=descriptors, args=(process.pid, most))
        watch.start()
        ran = self.program.end(process, 1800)
        watch.join()
        if ran.code != 0:
            raise Fault("wrong", f"round {self.rounds}: {words}: {ran}")
        self.watched.append([words[0], ran.peak // MIB, most[0], round(ran.seconds, 1)])

    def with_kill(self, words):
        """Killed up to three times, and then done."""
        drawn = random.Random(time.time())
        took = [row[3] for row in self.watched[-20:] if row[0] == words[0]]
        for _ in range(drawn.randrange(1, 4)):
            process = self.program.start(words)
            time.sleep(drawn.uniform(0, max(took, default=10)))
            os.kill(process.pid, signal.SIGKILL)
            met = self.program.end(process).code == -signal.SIGKILL
            self.faults["kills that met a command"] = self.faults.get("kills that met a command", 0) + met
        self.finish(words)

    def with_stop(self, words):
        """Stopped twice for some seconds."""

        def stop(process):
            for _ in range(2):
                time.sleep(1)
                for sign in (signal.SIGSTOP, signal.SIGCONT):
                    if process.returncode is None:
                        os.kill(process.pid, sign)
                        time.sleep(2)

        process = self.program.start(words)
        thread = threading.Thread(target=stop, args=(process,))
        thread.start()
        ran = self.program.end(process, 1800)
        thread.join()
        if ran.code != 0:
            raise Fault("wrong", f"round {self.rounds}, stopped: {words}: {ran}")

    def with_full(self, words):
        """On a disk that becomes full, then on one with room."""
        self.disk.fill(random.Random(self.rounds).randrange(100 * MIB))
        ran = self.program.run(words, 1800)
        self.disk.empty()
        if ran.code not in (0, 1) or ran.code == 1 and "space" not in ran.stderr:
            raise Fault("wrong", f"round {self.rounds}, on a full disk: {words}: {ran}")
        self.finish(words)

    def with_machine(self, words):
        """As two processes on two machines, of which one goes away; then as one process."""
        self.machines.hosts(self.work / "hosts")
        (self.work / "secret").write_text("a secret of sixteen bytes or more\n")
        (self.work / "secret").chmod(0o600)
        job = [*words, "--hosts", "hosts", "--secret-file", "secret", "--peer-timeout", "3", "--join-timeout", "60"]
        processes = []
        for at in range(2):
            runner = Program(self.machines.words(at)[0], self.work)
            given = [*self.machines.words(at)[1:], self.program.path, *map(str, job), "--process", str(at)]
            processes.append((runner, runner.start(given)))
        time.sleep(random.Random(time.time()).uniform(1, 10))
        self.machines.cable("down")
        ended = [runner.end(process, 300) for runner, process in processes]
        self.machines.cable("up")
        if any(ran.code not in (0, 5) for ran in ended):
            raise Fault("wrong", f"round {self.rounds}, a machine is gone: {list(map(str, ended))}")
        self.finish(words)

    # --- readers

    def read_on(self):
        """Readers beside all that, until it is over. There is always a commit to be read."""
        drawn = random.Random(time.time())
        program = Program(self.program.path, self.work)
        while not self.over.is_set():
            if self.live:
                (self.state / "draft").write_text(text(drawn.choice(list(self.live)), 0))
                words = drawn.choice(
                    [["stats", "c"], ["info", "c"], ["clusters", "c", "--json"], ["check", "c", self.state / "draft"]]
                )
                try:
                    program.good(words, deadline=1800)
                    self.read += 1
                except Fault as fault:
                    print(f"{fault.kind.upper()}: a reader: {fault}", flush=True)
                    self.over.set()
            self.over.wait(5)

    def run(self, minutes):
        """Rounds, until the time is over."""
        reader = threading.Thread(target=self.read_on)
        reader.start()
        try:
            while self.spent + time.monotonic() - self.begun < minutes * 60 and not self.over.is_set():
                self.round()
                print(
                    f"round {self.rounds}: {len(self.live)} documents, {used(self.work / 'c') / GIB:.2f} GiB, "
                    f"{self.watched[-1:]}",
                    flush=True,
                )
            failed = self.over.is_set()
        finally:
            self.over.set()
            reader.join()
        return not failed

    # --- the end

    def compare(self):
        """Whether the collection equals one run over what is left, and takes as much room as a new one."""
        print("at the end: fsck, one run over what is left, and a new collection of it", flush=True)
        self.program.good(["fsck", "c"], deadline=1800)
        clusters = self.program.good(["clusters", "c", "--json"], deadline=1800)
        documents = [
            json.loads(line) for line in self.program.good(["documents", "c", "--json"], deadline=1800).splitlines()
        ]
        wanted = {str(number): value[0] for number, value in self.live.items()}
        if {one["id"]: one["first_load"] for one in documents} != wanted:
            raise Fault("lost", f"{len(documents)} documents, {len(wanted)} were acknowledged, or their loads differ")
        order = sorted(self.live.items(), key=lambda one: (one[1][0], str(one[0])))
        with open(self.work / "left", "w", encoding="utf-8") as out:
            for number, (_, version) in order:
                out.write(f'{{"id":"{number}","text":"{text(number, version)}"}}\n')
        shutil.rmtree(self.work / "one", ignore_errors=True)
        shutil.rmtree(self.work / "fresh", ignore_errors=True)
        one = ["dedup", "left", "--input-format", "jsonl", "--out", "one", "--quiet", "--threshold", "0.8"]
        self.program.good([*one, "--clustering", "transitive"], deadline=3600)
        if partition((self.work / "one" / "clusters.jsonl").read_text()) != partition(clusters):
            raise Fault("wrong", "one run over what is left has other clusters")
        shutil.rmtree(self.work / "one")
        self.program.good(["load", "fresh", "left", "--input-format", "jsonl", "--quiet", *FLAGS], deadline=3600)
        for name in ("c", "fresh"):
            self.program.good(["compact", name, "--quiet"], deadline=3600)
        sizes = self.stored("c"), self.stored("fresh")
        shutil.rmtree(self.work / "fresh")
        return len(clusters.splitlines()), sizes

    def stored(self, name):
        """Bytes of the runs of the newest commit, and of the logs of changes of all. What the commit before has goes with the next
        writer, of a new collection too."""
        told = json.loads(self.program.good(["info", name, "--json"]))
        runs = sum(run["bytes"] for run in told["runs"])
        return runs, told["commit_bytes"] - runs

    def report(self, clusters, sizes):
        """Prints what it came to; whether memory, descriptors and disk are as they should be."""
        spent = (self.spent + time.monotonic() - self.begun) / 60
        flat = True
        print(
            f"{self.rounds} rounds in {spent:.0f} minutes, faults {self.faults}, {self.read} readers; "
            f"disk can be filled: {self.disk.bounded}, machines can go: {self.machines.there}"
        )
        for kind in ("load", "delete", "compact", "fsck"):
            rows = [row for row in self.watched if row[0] == kind]
            third = len(rows) // 3
            if not third:
                continue
            first, last = ([max(row[at] for row in part) for at in (1, 2)] for part in (rows[:third], rows[-third:]))
            flat &= last[0] <= MEMORY + max(32, MEMORY // 20) and last[1] <= first[1] + 64
            print(
                f"{kind}: at most {first[0]} MiB and {first[1]} descriptors in the first third, "
                f"{last[0]} and {last[1]} in the last"
            )
        (runs, log), new = sizes[0], sum(sizes[1])
        ratio = (runs + log) / new
        print(
            f"equal to one run: {len(self.live)} documents, {clusters} clusters; {runs / GIB:.2f} GiB of runs, compacted, "
            f"and {log / GIB:.2f} GiB in the logs of {self.loads} loads: {ratio:.2f} times a new collection, {runs / new:.2f} without logs"
        )
        return flat and ratio <= 1.2


def used(folder):
    """Bytes of the files of a folder."""
    return sum(path.stat().st_size for path in folder.iterdir()) if folder.exists() else 0


def descriptors(pid, most):
    """Notes the most open descriptors of a process until it is gone."""
    while True:
        try:
            most[0] = max(most[0], len(os.listdir(f"/proc/{pid}/fd")))
        except OSError:
            return
        if not most_memory(pid):
            return
        time.sleep(0.05)


def main():
    program, state, minutes, size = sys.argv[1:]
    soak = Soak(program, state, int(size))
    try:
        good = soak.run(float(minutes))
        if good:
            clusters, sizes = soak.compare()
            good = soak.report(clusters, sizes)
    except Fault as fault:
        print(f"{fault.kind.upper()}: {fault}", flush=True)
        good = False
    finally:
        soak.machines.leave()
        soak.disk.leave()
    subprocess.run(["sync"], check=False)
    print("all holds" if good else "something does not hold", flush=True)
    sys.exit(int(not good))


if __name__ == "__main__":
    main()
