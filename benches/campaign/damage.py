#!/usr/bin/env python3
"""Damages collections, and asks every reader, fsck and a load what they make of it.

    benches/campaign/damage.py PROGRAM [COUNT] [--seed N] [--only CASE]

COUNT is of damages. Each command has to answer as before, or to end with exit code 4 and a message that names a file
of the collection. Where all answer as before, fsck has to tell, or the newest manifest must not name the file. A load
has to come to what it comes to without the damage, or to change nothing. No command may take more than 64 MiB beyond
what it takes otherwise."""

import json
import os
import shutil
from pathlib import Path

from campaign import MIB, Fault, campaign, launched, options, partition, shortly, text, write_records

SETTINGS = [
    "--method join --ngram 2 --threshold 0.5",
    "--method join --ngram 3 --threshold 0.7 --clustering guarantee",
    "--preset news",
    "--method minhash --ngram 2",
    "--method simhash --ngram 1",
    "--method exact",
    "--method winnow --ngram 2 --threshold 0.5",
    "--method cosine --lexicon terms",
]
# Damages of one collection.
EACH = 30
PAGE = 4096
# What a file of a collection is replaced by that is no file.
STRANGE = {
    "a FIFO": os.mkfifo,
    "a folder": os.mkdir,
    "a link to nothing": lambda path: os.symlink("nowhere", path),
    "a link to itself": lambda path: os.symlink(path.name, path),
    "a link to /dev/zero": lambda path: os.symlink("/dev/zero", path),
}


class Patient:
    """A collection with a history, and what commands say of it as long as it is whole."""

    def __init__(self, program, drawn):
        self.program, self.drawn, self.folder = program, drawn, program.folder
        self.flags = drawn.choice(SETTINGS).split() + ["--store-text"] * (drawn.random() < 0.5)
        self.local = ["--local-state", "local"] if drawn.random() < 0.2 else []
        if "--lexicon" in self.flags:
            write_records(self.folder / "words", [{"text": text(drawn)} for _ in range(300)])
            counted = ["--terms", "alphanumeric", "--min-length", "2", "--min-df", "2"]
            program.good(["lexicon", "build", "words", "--input-format", "jsonl", "--out", "terms", *counted])
        (self.folder / "draft.txt").write_text(text(drawn))
        (self.folder / "ids").write_text("".join(f"d{at}\n" for at in range(0, 60, 3)))
        (self.folder / "old").mkdir()
        for step in range(3):
            self.write(step)
            self.write_command(["load", "c", f"{step}.jsonl", *self.flags])
            if step == 1:
                self.write_command(["delete", "c", "--ids", "ids"])
            elif drawn.random() < 0.3:
                self.write_command(["compact", "c"])
            for path in (self.folder / "c").iterdir():
                shutil.copy(path, self.folder / "old" / path.name)
        self.write(3)
        self.right = {name: self.ask(name, "c") for name in self.readers("c")}
        for name, ran in self.right.items():
            if ran.code != 0:
                raise Fault("wrong", f"{name} of a whole collection: {ran}")
        self.copy("then")
        self.load("then")
        self.then = self.clusters("then")

    def write(self, step):
        ids = [1] + self.drawn.sample(range(2, 90), self.drawn.randrange(30, 80))
        write_records(self.folder / f"{step}.jsonl", [{"id": f"d{id}", "text": text(self.drawn, 6)} for id in ids])

    def write_command(self, words):
        if self.local:
            words = launched(self.folder, [*words, *self.local])
        self.program.good(words)

    def load(self, name):
        """A load of some more."""
        words = ["load", name, "3.jsonl", *self.flags, "-w", "1"]
        return self.program.run(launched(self.folder, [*words, *self.local_of(name)]) if self.local else words)

    def local_of(self, name):
        return ["--local-state", f"{name}-local"] if self.local and name != "c" else self.local

    def readers(self, name):
        """Every command that reads, by name."""
        commands = {
            reader: [reader, name, "--json"] for reader in ("clusters", "documents", "stats", "info", "pairs", "fsck")
        }
        commands |= {
            "changes": ["changes", name],
            "recluster": ["recluster", name, "--json", "-w", "1"],
            "check": ["check", name, "draft.txt", "--json"],
            "explain": ["explain", name, "d1"],
            "group": ["group", name, "ids"],
            "export": ["export", name, "--out", "out", "--quiet", "-w", "1"],
        }
        return {reader: [*words, *self.local_of(name)] for reader, words in commands.items()}

    def ask(self, reader, name):
        """What a reader says, without what it says of sizes on disk."""
        ran = self.program.run(self.readers(name)[reader])
        if reader in ("info", "stats") and ran.code == 0:
            told = json.loads(ran.stdout)
            ran.stdout = {key: value for key, value in told.items() if "bytes" not in key and key != "disk"}
        if reader == "export":
            out = self.folder / "out"
            files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != "summary.json")
            ran.stdout = {path.name: path.read_bytes() for path in files}
            if (ran.code == 0) != out.exists():
                raise Fault("wrong", f"export: {ran}, and out exists: {out.exists()}")
            shutil.rmtree(out, ignore_errors=True)
        return ran

    def clusters(self, name):
        return partition(self.program.good(self.readers(name)["clusters"]))

    def copy(self, name):
        """A copy whose files are links to those of the original: nobody changes a file of a collection."""
        for source, target in (("c", name), ("local", f"{name}-local")):
            shutil.rmtree(self.folder / target, ignore_errors=True)
            if source == "c" or self.local:
                shutil.copytree(self.folder / source, self.folder / target, copy_function=os.link)

    def files(self, name):
        """All files of a copy, with those that processes keep."""
        found = [path for path in (self.folder / name).rglob("*")]
        found += [path for path in (self.folder / f"{name}-local").rglob("*")]
        return sorted(path for path in found if path.is_file())

    def named(self):
        """The names of the files that the newest manifest names, and its own."""
        manifests = sorted((self.folder / "c").glob("manifest-*"))
        told = json.loads(manifests[-1].read_text().split("\n", 1)[1])
        names = {manifests[-1].name} | {f"changes-{one['commit']:08}.jsonl" for one in told["changes"]}
        return names | {
            path.name
            for path in self.files("c") + self.files("local")
            if any(path.name.startswith(f"run-{one['id']:08}") for one in told["runs"])
        }


def damage_bytes(drawn, whole, others):
    """What becomes of the bytes of a file: the kind of damage, and the bytes."""
    size = len(whole)
    at, count = drawn.randrange(size or 1), drawn.choice([1, 8, 100, PAGE, 3 * PAGE])
    page = at // PAGE * PAGE
    other = drawn.choice(others) if others else b"x"
    from_page = drawn.randrange(size or 1) // PAGE * PAGE
    kinds = {
        f"bit {at} flipped": lambda: (
            whole[:at] + bytes([whole[at] ^ 1 << drawn.randrange(8)]) + whole[at + 1 :] if size else b"x"
        ),
        f"{count} bytes from {at} zeroed": lambda: whole[:at] + bytes(min(count, size - at)) + whole[at + count :],
        f"{count} bytes from {at} drawn": lambda: whole[:at]
        + drawn.randbytes(min(count, size - at))
        + whole[at + count :],
        f"{count} bytes from {at} gone": lambda: whole[:at] + whole[at + count :],
        f"{count} bytes put in at {at}": lambda: whole[:at] + drawn.randbytes(count) + whole[at:],
        f"cut at {at}": lambda: whole[:at],
        f"cut at page {page}": lambda: whole[:page],
        "empty": lambda: b"",
        f"{count} zeros behind it": lambda: whole + bytes(count),
        "twice": lambda: whole + whole,
        f"page {page} as page {from_page}": lambda: whole[:page]
        + whole[from_page : from_page + PAGE]
        + whole[page + PAGE :],
        f"page {page} of another file": lambda: whole[:page] + other[page : page + PAGE] + whole[page + PAGE :],
        "another file": lambda: other,
    }
    kind = drawn.choice(sorted(kinds))
    return kind, kinds[kind]()


def damage(patient, name):
    """Damages a copy in one way: what was done, and the names of files that are other ones now."""
    drawn = patient.drawn
    path = drawn.choice(patient.files(name))
    way = drawn.random()
    if way < 0.60:
        whole = path.read_bytes()
        others = [other.read_bytes() for other in patient.files(name) if other != path]
        kind, damaged = damage_bytes(drawn, whole, others)
        path.unlink()
        path.write_bytes(damaged)
        return f"{path.name}: {kind}", [] if damaged == whole else [path.name]
    if way < 0.68:
        path.unlink()
        return f"{path.name}: removed", [path.name]
    if way < 0.80:
        kind = drawn.choice(sorted(STRANGE))
        path.unlink()
        STRANGE[kind](path)
        return f"{path.name}: {kind}", [path.name]
    if way < 0.84:
        whole = path.read_bytes()
        path.unlink()
        path.write_bytes(whole)
        os.truncate(path, 1 << 40)
        return f"{path.name}: a terabyte of zeros behind it", [path.name]
    if way < 0.92:
        other = drawn.choice(patient.files(name))
        if other == path:
            return "nothing", []
        same = path.read_bytes() == other.read_bytes()
        middle = path.with_name("middle")
        for source, target in ((path, middle), (other, path), (middle, other)):
            source.rename(target)
        return f"{path.name} and {other.name} swapped", [] if same else [path.name, other.name]
    if way < 0.96:
        return older(patient, name)
    return stranger(drawn, path)


def older(patient, name):
    """Files of an earlier commit are back, under their own names or the newest one's."""
    old = sorted((patient.folder / "old").iterdir())
    if patient.drawn.random() < 0.5:
        back = [path for path in old if not (patient.folder / name / path.name).exists()]
        for path in back:
            shutil.copy(path, patient.folder / name / path.name)
        return f"older files are back: {[path.name for path in back]}", []
    source = patient.drawn.choice([path for path in old if path.name != "lock"])
    same = [path for path in patient.files(name) if path.name.split("-")[0] == source.name.split("-")[0]]
    if not same:
        return "nothing", []
    target = same[-1]
    changed = target.read_bytes() != source.read_bytes()
    target.unlink()
    shutil.copy(source, target)
    return f"{target.name} is {source.name} of an earlier commit", [target.name] if changed else []


def stranger(drawn, path):
    """A file that nobody of ours has written, under a name of ours."""
    number = drawn.choice(["00000000", "00000001", "00000009", "99999999", "18446744073709551616", "x"])
    kind = drawn.choice(
        [
            "run-{}",
            "manifest-{}",
            "new-manifest-{}",
            "changes-{}.jsonl",
            "checkpoint-{}-00000001",
            "refused-{}-00000001.jsonl",
        ]
    )
    target = path.with_name(kind.format(number))
    if target.exists():
        return "nothing", []
    target.write_bytes(drawn.choice([b"", b"x" * 5000, path.read_bytes() if path.is_file() else b"{}"]))
    # A newer manifest that is none is damage; nothing else is of the collection.
    return f"{target.name} by a stranger", [target.name] if target.name.startswith("manifest") else []


def judge(patient, name, what, changed):
    """Asks all, and compares."""
    told, names = [], sorted({path.name for path in patient.files(name)} | set(changed))
    for reader, right in patient.right.items():
        ran = patient.ask(reader, name)
        if ran.peak > right.peak + 64 * MIB:
            raise Fault("wrong", f"{what}: {reader} takes {ran.peak // MIB} MiB")
        if ran.code == 0:
            if ran.stdout != right.stdout:
                raise Fault("wrong", f"{what}: {reader} answers otherwise: {shortly(ran.stdout, right.stdout)}")
            continue
        said = ran.stderr + (ran.stdout if reader == "fsck" else "")
        # A part that a process keeps may be with one that is not there.
        codes = (2, 4) if patient.local else (4,)
        if ran.code not in codes or not any(file in said for file in names + [f"{name}:", "local"]):
            raise Fault("wrong", f"{what}: {reader}: {ran}")
        told.append(reader)
    if told and "fsck" not in told:
        raise Fault("wrong", f"{what}: {told} notice, fsck does not")
    if not told and set(changed) & patient.named():
        raise Fault("wrong", f"{what}: nobody notices")
    return told


def judge_load(patient, name, what, told):
    """A load comes to what it should, or changes nothing."""
    ran = patient.load(name)
    # What is in the way of a new file is an error of the system.
    codes = (0, 1, 4, 2, 5) if patient.local else (0, 1, 4)
    if ran.code not in codes or ran.code == 1 and "cannot" not in ran.stderr:
        raise Fault("wrong", f"{what}: load: {ran}")
    listed = patient.program.run(patient.readers(name)["clusters"])
    if listed.code == 0:
        wanted = patient.then if ran.code == 0 else partition(patient.right["clusters"].stdout)
        if partition(listed.stdout) != wanted:
            raise Fault("wrong", f"{what}: after a load ({ran}): {shortly(partition(listed.stdout), wanted)}")
    elif listed.code != 4 or not told:
        raise Fault("lost" if not told else "wrong", f"{what}: after a load ({ran}): {listed}")


def case(program, drawn, left):
    """A collection that is damaged again and again, each time a copy of the whole one."""
    patient = Patient(program, drawn)
    for done in range(min(EACH, left)):
        patient.copy("x")
        what, changed = damage(patient, "x")
        what = f"{' '.join(patient.flags + patient.local)}, damage {done}: {what}"
        told = judge(patient, "x", what, changed)
        judge_load(patient, "x", what, told)
    return min(EACH, left)


if __name__ == "__main__":
    campaign(options(__doc__.split("\n", maxsplit=1)[0], 3000), "damages", case)
