#!/usr/bin/env python3
"""Kills commands that write with SIGKILL at random moments, gives each again, and compares with a twin that nobody
killed.

    benches/campaign/kills.py PROGRAM [COUNT] [--seed N] [--only CASE]

COUNT is of kills that met a running command. After each kill a reader has to find the commit before the command or
the one after it, and a commit that is kept has to answer as it did. At the end of a history the clusters also have to be
those of one run over what is left."""

import json
import os
import shutil
import signal
import time

from campaign import (
    DEADLINE,
    Fault,
    campaign,
    children,
    equal,
    exported,
    fsck,
    launched,
    options,
    partition,
    shortly,
    state,
    text,
    write_records,
)

# Flags of loads.
SETTINGS = [
    "--method join --ngram 2 --threshold 0.5",
    "--method join --ngram 3 --threshold 0.7 --clustering guarantee",
    "--method join --ngram 2 --threshold 0.6 --clustering guarantee --keep longest",
    "--preset news",
    "--method exact",
    "--method minhash --ngram 2",
    "--method simhash --ngram 1",
    "--preset broder1997 --ngram 2",
    "--method winnow --ngram 2 --threshold 0.5",
    "--preset kolcz2003 --lexicon terms",
    "--preset imatch --lexicon terms",
]


class History:
    """A collection that is killed, its twin, and what both should hold."""

    def __init__(self, program, drawn):
        self.program, self.drawn = program, drawn
        self.flags = drawn.choice(SETTINGS).split() + ["--store-text"] * (drawn.random() < 0.4)
        self.processes = 2 if drawn.random() < 0.15 else 1
        local = self.processes == 2 and drawn.random() < 0.5
        self.local = ["--local-state", "local"] if local else []
        self.live, self.loads, self.kills, self.usual, self.steps = {}, 0, 0, {}, 0
        self.before = None
        if drawn.random() < 0.5:
            self.flags += ["--retain", str(drawn.randrange(1, 5))]
        # By commit, what a reader has found then, and what was there.
        self.kept = {}
        if "--lexicon" in self.flags:
            write_records(program.folder / "words", [{"text": text(drawn)} for _ in range(300)])
            counted = ["--terms", "alphanumeric", "--min-length", "2", "--min-df", "2"]
            program.good(["lexicon", "build", "words", "--input-format", "jsonl", "--out", "terms", *counted])

    def task(self):
        """The next command: its name, and the words behind the name of the collection."""
        self.steps += 1
        kind = self.drawn.choice(["load"] * 4 + ["delete"] * 2 + ["compact", "export", "dedup", "rollback"])
        if not self.live or kind == "load":
            return "load", self.load()
        if kind == "delete":
            return "delete", self.delete()
        if kind == "rollback":
            earlier = self.retained()[:-1]
            if not earlier:
                return "compact", []
            commit = self.drawn.choice(earlier)
            self.live = dict(self.kept[commit][1])
            return "rollback", ["--to", str(commit)]
        return kind, []

    def retained(self):
        """The commits that readers may still ask for, and of which it is known what they have found."""
        logged = self.program.good(["log", "c", "--format", "json", *self.local])
        rows = json.loads(logged)
        return sorted(row["commit"] for row in rows if row["retained"] and row["commit"] in self.kept)

    def load(self):
        """A file of new, changed, unchanged and deleted documents, written; the model follows."""
        name, records, seen = f"load{self.steps}.jsonl", [], {}
        self.loads += 1
        for _ in range(self.drawn.randrange(20, 400)):
            id = f"d{self.drawn.randrange(600)}"
            if self.drawn.random() < 0.1:
                records.append({"op": "delete", "id": id})
                seen[id] = None
            else:
                seen[id] = text(self.drawn)
                records.append({"id": id, "text": seen[id]})
        write_records(self.program.folder / name, records)
        for id, value in seen.items():
            first = self.live[id][0] if id in self.live else self.loads
            self.live.pop(id, None)
            if value is not None:
                self.live[id] = (first, value)
        return [name, *self.flags, "--max-delete", "100"]

    def delete(self):
        name = f"gone{self.steps}"
        gone = self.drawn.sample(sorted(self.live), min(len(self.live), self.drawn.randrange(1, 60)))
        self.loads += 1
        for id in gone:
            del self.live[id]
        (self.program.folder / name).write_text("".join(f"{id}\n" for id in gone))
        return ["--ids", name, "--max-delete", "100"]

    def line(self, kind, rest, collection):
        """The whole command, for one process or several."""
        if kind == "dedup":
            return [*self.one_run(collection), "-w", str(self.drawn.choice([1, 2]))]
        if kind == "export":
            return ["export", "c", "--out", collection, "--quiet", *self.local]
        words = [kind, collection, *rest]
        if kind not in ("compact", "rollback"):
            words += ["-w", str(self.drawn.choice([1, 2]))]
        if collection == "t":
            return words
        if kind not in ("compact", "rollback") and self.drawn.random() < 0.6:
            words += ["--epoch", self.drawn.choice(["1K", "4K", "16K"])]
        if kind == "load" and self.drawn.random() < 0.3:
            words += ["--memory", "48M"]
        if self.processes == 2:
            return launched(self.program.folder, [*words, *self.local])
        return words

    def kill(self, line, usual):
        """Starts a command and kills it; whether it still ran."""
        process = self.program.start(line)
        time.sleep(self.drawn.uniform(0, 1.2) * usual)
        victims = children(process.pid)
        # The launcher, or one of its processes.
        victim = self.drawn.choice([process.pid, *victims])
        running = alive(process.pid)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            running = False
        ran = self.program.end(process)
        wait_for(victims)
        if ran.code == 0:
            return False
        if victim == process.pid and ran.code != -signal.SIGKILL:
            raise Fault("wrong", f"{line} failed before it was killed: {ran}")
        self.kills += running
        return True

    def commit(self, collection):
        """The number of the last commit."""
        return json.loads(self.program.good(["info", collection, "--json"]))["commit"]

    def suffer(self, kind, rest, after):
        """A command killed up to three times, and then done."""
        name = {"dedup": "out", "export": "out"}.get(kind, "c")
        begun = self.commit("c") if kind == "rollback" else None
        # A load that is given again has to be the same command, but for the shape of the job.
        for _ in range(self.drawn.randrange(1, 4)):
            if not self.kill(self.line(kind, rest, name), self.usual.setdefault(kind, 0.05)):
                return
            self.look(kind, after)
            # Once it stands it is not given again: what it went back to may not be kept any more.
            if begun is not None and self.commit("c") > begun:
                return
            if kind == "load" and self.drawn.random() < 0.15:
                self.abandon(after)
        begun = time.monotonic()
        self.program.good(self.line(kind, rest, name))
        self.usual[kind] = (self.usual[kind] + time.monotonic() - begun) / 2

    def look(self, kind, after):
        """What a reader finds after a kill: all before the command, or all after it."""
        if kind in ("dedup", "export"):
            out = self.program.folder / "out"
            if out.exists():
                equal(exported(out), after, f"{kind}, killed")
                shutil.rmtree(out)
            return
        listed = self.program.run(["clusters", "c", "--json", *self.local])
        if self.before is None and listed.code == 4:
            return
        found = state(self.program, "c", self.local, deep=False)
        fsck(self.program, "c", self.local)
        self.look_back()
        for wanted in filter(None, (self.before, after)):
            if all(found[key] == wanted[key] for key in found):
                return
        if self.before is None and found["stats"]["documents"] == 0:
            return
        equal(found, self.before or after, f"{kind}, killed: the commit before it")

    def look_back(self):
        """One of the commits that are kept answers as it did."""
        kept = self.retained()
        if kept:
            commit = self.drawn.choice(kept)
            found = self.program.good(["clusters", "c", "--json", "--at", str(commit), *self.local])
            equal({"clusters": partition(found)}, {"clusters": self.kept[commit][0]}, f"commit {commit}")

    def abandon(self, after):
        """What a killed load has left is discarded: the commit stays."""
        if not (self.program.folder / "c").exists():
            return
        ran = self.program.run(["load", "c", "--abandon", *self.local])
        if ran.code not in (0, 4):
            raise Fault("wrong", f"load c --abandon: {ran}")
        self.look("load", after)

    def step(self):
        """One command on the twin, and then on the collection."""
        kind, rest = self.task()
        if kind in ("dedup", "export"):
            self.program.good(self.line(kind, rest, "want"))
            after = exported(self.program.folder / "want")
            self.suffer(kind, rest, after)
            equal(exported(self.program.folder / "out"), after, kind)
            for name in ("want", "out"):
                shutil.rmtree(self.program.folder / name)
            left = sorted(path.name for path in self.program.folder.glob(".*"))
            if left:
                raise Fault("wrong", f"{kind} left {left}")
            return
        begun = time.monotonic()
        self.program.good(self.line(kind, rest, "t"))
        self.usual.setdefault(kind, 2 * (time.monotonic() - begun))
        after = state(self.program, "t")
        self.suffer(kind, rest, after)
        found = state(self.program, "c", self.local)
        equal(found, after, f"{kind}, then")
        self.before = after
        commit = self.commit("c")
        if commit == self.commit("t"):
            self.kept[commit] = (after["clusters"], dict(self.live))
        self.look_back()

    def one_run(self, out):
        """The command that does in one run what the collection should have come to: over what is left, in the order of
        documents, with the clustering of the collection."""
        order = sorted(self.live.items(), key=lambda one: (one[1][0], one[0]))
        write_records(self.program.folder / "left.jsonl", [{"id": id, "text": value[1]} for id, value in order])
        clustering = json.loads(self.program.good(["info", "t", "--json"]))["configuration"]["cluster"]["clustering"]
        flags = [flag for flag in self.flags if flag != "--store-text"]
        if "--retain" in flags:
            at = flags.index("--retain")
            del flags[at : at + 2]
        if "--clustering" not in flags:
            flags += ["--clustering", clustering]
        return ["dedup", "left.jsonl", "--out", out, "--quiet", *flags, "--common-cap", "0"]

    def end(self):
        """Clusters are those of one run."""
        if not self.live:
            return
        self.program.good(self.one_run("one"))
        one = partition((self.program.folder / "one" / "clusters.jsonl").read_text())
        if one != self.before["clusters"]:
            raise Fault("wrong", f"one run has other clusters, {self.flags}: {shortly(self.before['clusters'], one)}")


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(pids):
    """Processes of a job whose launcher is gone end soon."""
    begun = time.monotonic()
    while any(map(alive, pids)):
        if time.monotonic() - begun > DEADLINE:
            for pid in filter(alive, pids):
                os.kill(pid, signal.SIGKILL)
            raise Fault("hung", "processes go on without their launcher")
        time.sleep(0.005)


def case(program, drawn, left):
    """A history of some commands; how many kills met one."""
    history = History(program, drawn)
    for _ in range(8):
        history.step()
        if history.kills >= left:
            break
    history.end()
    return history.kills


if __name__ == "__main__":
    campaign(options(__doc__.split("\n", maxsplit=1)[0], 1000), "kills", case)
