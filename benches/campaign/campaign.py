"""What the campaigns share: their command line, running the program under a deadline, faults and their totals, random
texts, and what there is to see of a collection."""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# A command of these campaigns takes less than a second alone on a machine.
DEADLINE = 60
MIB = 1 << 20
KINDS = ("lost", "wrong", "panicked", "hung")


class Fault(Exception):
    """What no run of the program may do, by its kind: one of KINDS."""

    def __init__(self, kind, what):
        super().__init__(what)
        self.kind = kind


class Ran:
    """How a command ended."""

    def __init__(self, code, stdout, stderr, seconds, peak):
        self.code, self.stdout, self.stderr, self.seconds, self.peak = code, stdout, stderr, seconds, peak

    def __str__(self):
        return f"code {self.code}, {self.seconds:.1f} s, {self.peak // MIB} MiB: {self.stderr.strip()[-600:]}"


class Program:
    """The program, run in one folder."""

    def __init__(self, path, folder):
        self.path, self.folder = str(path), Path(folder)

    def start(self, words, stdin=None, env=None, before=None):
        """Starts a command; its output goes to files, so that it never waits for us."""
        out, err = (tempfile.TemporaryFile(dir=self.folder.parent) for _ in range(2))
        given = dict(os.environ, RUST_BACKTRACE="0", **(env or {}))
        process = subprocess.Popen(
            [self.path, *map(str, words)],
            cwd=self.folder,
            stdin=stdin or subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=given,
            start_new_session=True,
            preexec_fn=before,
        )
        process.begun, process.files, process.words = time.monotonic(), (out, err), words
        return process

    def end(self, process, deadline=DEADLINE):
        """Waits for the end of a command. One that goes on beyond its deadline hangs, and is ended."""
        peak, late, pause, status = 0, False, 0.001, None
        while status is None:
            ended, status = os.waitpid(process.pid, os.WNOHANG)
            if not ended:
                status = None
                peak = max(peak, sum(map(most_memory, [process.pid, *children(process.pid)])))
                late = late or time.monotonic() - process.begun > deadline
                if late:
                    os.killpg(process.pid, signal.SIGKILL)
                time.sleep(pause)
                pause = min(pause * 1.2, 0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in process.files:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        ran = Ran(process.returncode, *texts, time.monotonic() - process.begun, peak)
        line = " ".join(map(str, process.words))
        if late:
            raise Fault("hung", f"{line}: no end after {deadline} s; {ran}")
        if "panicked at" in ran.stderr or ran.code in (101, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
            raise Fault("panicked", f"{line}: {ran}")
        return ran

    def run(self, words, deadline=DEADLINE, **how):
        """Runs a command to its end."""
        return self.end(self.start(words, **how), deadline)

    def good(self, words, **how):
        """Runs a command that has to succeed; its standard output."""
        ran = self.run(words, **how)
        if ran.code != 0:
            raise Fault("wrong", f"{' '.join(map(str, words))}: {ran}")
        return ran.stdout


def most_memory(pid):
    """The most memory that a process has held; what wait4 says begins with that of whoever starts it. What grows within
    the last hundredth of a second may be missed."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            lines = [line for line in file if line.startswith("VmHWM:")]
        return int(lines[0].split()[1]) * 1024 if lines else 0
    except OSError:
        return 0


def children(pid):
    """The processes that a process has started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def options(about, count, more=None):
    """The command line: PROGRAM [COUNT] [--seed N] [--only CASE]."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("program", type=lambda name: Path(name).resolve(), help="path of alike")
    parser.add_argument("count", type=int, nargs="?", default=count, help=f"how many; {count}")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn; 1")
    parser.add_argument("--only", type=int, help="repeat this case alone")
    if more:
        more(parser)
    given = parser.parse_args()
    if not os.access(given.program, os.X_OK):
        parser.error(f"{given.program} is no program: build it with cargo build --profile dist --bin alike")
    return given


def campaign(given, what, case):
    """Runs case(program, random, left) with numbers from 0 until it has come to `count` of what it counts; prints the
    faults, how to repeat each, and the totals. `case` returns by how much it counts. Ends the script."""
    done, cases, number, faults = 0, 0, given.only or 0, dict.fromkeys(KINDS, 0)
    begun = time.monotonic()
    while done < given.count and (given.only is None or number == given.only):
        with tempfile.TemporaryDirectory(prefix="alike-campaign-") as name:
            folder = Path(name) / "w"
            folder.mkdir()
            drawn = random.Random(f"{what} {given.seed} {number}")
            drawn.number, drawn.count = number, given.count
            try:
                done += case(Program(given.program, folder), drawn, given.count - done)
            except Fault as fault:
                faults[fault.kind] += 1
                done += 1
                print(
                    f"{fault.kind.upper()}: {fault}\n  repeat: {sys.argv[0]} {given.program} {given.count} "
                    f"--seed {given.seed} --only {number}",
                    flush=True,
                )
                keep(folder, what, number)
        number += 1
        cases += 1
    told = ", ".join(f"{count} {kind}" for kind, count in faults.items())
    print(f"{done} {what} in {cases} cases: {told} ({time.monotonic() - begun:.0f} s)", flush=True)
    sys.exit(int(any(faults.values())))


def keep(folder, what, number):
    """The folder of a case with a fault, kept if ALIKE_KEEP names a place for it."""
    if place := os.environ.get("ALIKE_KEEP"):
        target = Path(place) / f"{what.replace(' ', '-')}-{number}"
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", folder, target], check=False)


def limit_files(size):
    """For `before`: no file may grow beyond so many bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def free_ports(count):
    """Ports that nobody listens on now."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def launched(folder, words):
    """The words by which a command runs as two processes."""
    hosts = Path(folder) / "hosts"
    hosts.write_text("".join(f"127.0.0.1:{port}\n" for port in free_ports(2)), encoding="ascii")
    return ["launch", "--hosts", "hosts", "--quiet", "--", *words]


# --- texts -----------------------------------------------------------------------------------------------------------


def text(drawn, families=12, words=30):
    """A text of a family: its words with some left out, and some replaced. So families hang together and fall apart."""
    family = drawn.randrange(families)
    begin, size = drawn.randrange(8), words - drawn.randrange(8)
    chosen = [f"f{family}w{at}" for at in range(begin, begin + size)]
    for _ in range(drawn.randrange(4)):
        chosen[drawn.randrange(len(chosen))] = f"own{drawn.randrange(10_000)}"
    return " ".join(chosen)


def write_records(path, records):
    """Records as lines of JSON."""
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)


# --- what there is to see of a collection ----------------------------------------------------------------------------


def partition(lines):
    """Clusters as (representative, members), whatever their numbers."""
    clusters = [json.loads(line) for line in lines.splitlines()]
    return sorted([one["representative"], *sorted(one["members"])] for one in clusters)


def exported(folder):
    """All that an export or a run of dedup wrote, but for what a summary says of memory and time."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and path.name != "summary.json":
            found[str(path.relative_to(folder))] = sorted(path.read_bytes().splitlines())
    return found


def state(program, collection, flags=(), deep=True):
    """What all readers say of a collection, without what may differ between equal ones: commits, places, sizes."""
    seen = {}
    seen["clusters"] = partition(program.good(["clusters", collection, "--json", *flags]))
    seen["documents"] = sorted(without(program.good(["documents", collection, "--json", *flags])))
    stats = json.loads(program.good(["stats", collection, "--json", *flags]))
    seen["stats"] = {key: stats[key] for key in ("documents", "contents", "exact_copies", "clusters", "removed")}
    if deep:
        seen["pairs"] = sorted(program.good(["pairs", collection, "--json", "-w", "1", *flags]).splitlines())
        out = program.folder / "export-out"
        shutil.rmtree(out, ignore_errors=True)
        program.good(["export", collection, "--out", out, "--quiet", "-w", "1", *flags])
        seen["export"] = exported(out)
        shutil.rmtree(out)
        fsck(program, collection, flags)
    return seen


def without(lines):
    """Documents as id, loads and place."""
    for line in lines.splitlines():
        one = json.loads(line)
        yield one["id"], one["first_load"], one["load"], one.get("line", 0)


def fsck(program, collection, flags=()):
    """A collection that is damaged has lost something."""
    ran = program.run(["fsck", collection, *flags])
    if ran.code != 0:
        raise Fault("lost", f"fsck {collection}: {ran} {ran.stdout[-300:]}")


def equal(found, wanted, what):
    """Compares two states."""
    for key, value in wanted.items():
        if found.get(key) != value:
            raise Fault("wrong", f"{what}: {key} differ: {shortly(found.get(key), value)}")


def shortly(found, wanted):
    """The first things in which two answers differ."""
    if isinstance(found, list) and isinstance(wanted, list):
        more = [one for one in found if one not in wanted][:2]
        less = [one for one in wanted if one not in found][:2]
        return f"has {more}, lacks {less}"[:600]
    if isinstance(found, dict) and isinstance(wanted, dict):
        return str(
            {
                key: shortly(found.get(key), wanted.get(key))
                for key in found.keys() | wanted.keys()
                if found.get(key) != wanted.get(key)
            }
        )[:600]
    return f"{found} instead of {wanted}"[:600]
