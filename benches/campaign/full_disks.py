#!/usr/bin/env python3
"""Commands that write to disks of every size that is too small, and again when there is room.

    benches/campaign/full_disks.py PROGRAM [COUNT] [--seed N] [--only CASE]

COUNT is of commands that the disk was too small for. Each has to end with exit code 1 and a message that says so, or
with 3 if it can say beforehand what does not fit; a collection is then as it was, and an output is not there. With
room the same command has to succeed, and to come to what it comes to on a large disk. Disks are file systems of their
own in memory, of so many bytes or so many files, which needs the rights of root. Without them `ulimit -f` bounds each
file instead, and the totals say so."""

import os
import shutil
import subprocess
import tempfile

from campaign import Fault, Program, campaign, equal, exported, limit_files, options, state, text, write_records

SETTINGS = [
    "--method join --ngram 2 --threshold 0.5",
    "--method join --ngram 3 --threshold 0.7 --clustering guarantee",
    "--preset news",
    "--method minhash --ngram 2",
    "--method exact",
]
KINDS = ["dedup", "load", "load", "next load", "next load", "delete", "compact", "export", "lexicon"]


def can_mount():
    """Whether this machine lets us mount file systems."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True, check=False)
        if mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return mounted.returncode == 0


class Disk:
    """A file system of some bytes and files."""

    def __init__(self, path):
        self.path = path
        path.mkdir()

    def __enter__(self):
        subprocess.run(["mount", "-t", "tmpfs", "none", self.path], check=True)
        return self

    def bound(self, what):
        """A limit of the file system as mount says it: `size=4096` or `nr_inodes=7`."""
        done = subprocess.run(["mount", "-o", f"remount,{what}", self.path], check=False, capture_output=True)
        return done.returncode == 0

    def used(self):
        """Bytes and files in use."""
        told = os.statvfs(self.path)
        return (told.f_blocks - told.f_bfree) * told.f_frsize, told.f_files - told.f_ffree

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=True)


class Work:
    """One command that writes below a place, and all that it needs there before."""

    def __init__(self, program, drawn):
        self.program, self.drawn = program, drawn
        self.kind = drawn.choice(KINDS)
        self.flags = drawn.choice(SETTINGS).split() + ["--store-text"] * (drawn.random() < 0.5)
        for name in ("first.jsonl", "next.jsonl"):
            ids = drawn.sample(range(1500), 900)
            write_records(program.folder / name, [{"id": f"d{id}", "text": text(drawn, 40)} for id in ids])
        (program.folder / "ids").write_text("".join(f"d{at}\n" for at in range(0, 1500, 5)))
        self.epoch = ["--epoch", "16K"] * (drawn.random() < 0.5)
        self.memory = ["--memory", "48M", "-w", drawn.choice(["1", "2"])]

    def prepare(self, place):
        """The collection before the command."""
        collection = place / "c"
        if self.kind in ("next load", "delete", "compact", "export"):
            self.program.good(["load", collection, "first.jsonl", *self.flags, "--quiet"])
        if self.kind == "compact":
            self.program.good(["load", collection, "next.jsonl", "--quiet"])

    def words(self, place):
        """The command."""
        collection, out = place / "c", place / "out"
        return {
            "dedup": ["dedup", "first.jsonl", "next.jsonl", "--out", out, "--quiet", "--pairs", *self.memory],
            "load": ["load", collection, "first.jsonl", "--quiet", *self.flags, *self.epoch, *self.memory],
            "next load": ["load", collection, "next.jsonl", "--quiet", *self.epoch, *self.memory],
            "delete": ["delete", collection, "--ids", "ids", "--quiet", *self.memory],
            "compact": ["compact", collection, "--quiet"],
            "export": ["export", collection, "--out", out, "--quiet", *self.memory],
            "lexicon": ["lexicon", "build", "first.jsonl", "--out", out, "--terms", "alphanumeric", "--quiet"],
        }[self.kind]

    def seen(self, place):
        """What there is now."""
        found = {}
        if (place / "c").exists():
            reader = Program(self.program.path, self.program.folder)
            found |= state(reader, place / "c")
        if (out := place / "out").exists():
            found["out"] = exported(out) if out.is_dir() else out.read_bytes()
        return found


def refuse(work, place, ran, before):
    """The rules of a command that found no room."""
    if ran.code != 1 or not any(word in ran.stderr for word in ("space", "large", "quota")):
        raise Fault("wrong", f"{work.kind} {work.flags}: {ran}")
    left = [path.name for path in place.iterdir() if path.name not in ("c", "lost+found")]
    if left:
        raise Fault("wrong", f"{work.kind}: {ran}; it left {left}")
    if before:
        seen = state(work.program, place / "c")
        equal(seen, before, f"{work.kind} without room")


def on_disk(program, drawn, _left):
    """A command on a disk that is too small, then on one that is not; 1 if it was too small."""
    work = Work(program, drawn)
    whole = program.folder / "whole"
    whole.mkdir()
    work.prepare(whole)
    before = work.seen(whole)
    program.good(work.words(whole))
    after = work.seen(whole)
    with Disk(program.folder / "disk") as disk:
        place = disk.path
        work.prepare(place)
        start = disk.used()
        program.good(work.words(place))
        most = disk.used()
        for path in place.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        work.prepare(place)
        by_files = drawn.random() < 0.2
        at = 1 if by_files else 0
        # Some commands need more on their way than in the end.
        room = start[at] + int((most[at] - start[at]) * drawn.uniform(0, 1.5)) if most[at] > start[at] else start[at]
        limit = f"nr_inodes={max(room, start[1])}" if by_files else f"size={max(room // 4096, 1) * 4096}"
        if not disk.bound(limit):
            return 0
        ran = program.run(work.words(place))
        small = ran.code != 0
        if small:
            refuse(work, place, ran, before)
            disk.bound("size=1G,nr_inodes=100000")
            program.good(work.words(place))
        equal(work.seen(place), after, f"{work.kind} {work.flags} at {limit}, then with room")
    return int(small)


def by_limit(program, drawn, _left):
    """The same, where no file may grow beyond some bytes."""
    work = Work(program, drawn)
    whole, place = program.folder / "whole", program.folder / "bounded"
    for folder in (whole, place):
        folder.mkdir()
        work.prepare(folder)
    before = work.seen(place)
    program.good(work.words(whole))
    after = work.seen(whole)
    largest = max((path.stat().st_size for path in whole.rglob("*") if path.is_file()), default=0)
    ran = program.run(work.words(place), before=limit_files(drawn.randrange(largest or 1)))
    small = ran.code != 0
    if small:
        refuse(work, place, ran, before)
        program.good(work.words(place))
    equal(work.seen(place), after, f"{work.kind}, then without a limit")
    return int(small)


def main():
    given = options(__doc__.split("\n", maxsplit=1)[0], 200)
    if can_mount():
        campaign(given, "full disks", on_disk)
    else:
        campaign(given, "files beyond ulimit -f, since nothing can be mounted here,", by_limit)


if __name__ == "__main__":
    main()
