#!/usr/bin/env python3
"""Bad inputs of every kind, and what the program says of them.

    benches/campaign/bad_inputs.py PROGRAM [COUNT] [--seed N] [--only CASE]

Each case is one command with one bad thing: a file, an option, a name. It has to end with one of the exit codes that
are right for it. An error has a message with what it is about. With `--memory 64M` no command may take more than 96
MiB. What failed leaves nothing: no output, no temporary folder, no collection, or the one there was, as it was. COUNT
beyond the number of cases repeats those that draw bytes, with others."""

import os
import shutil

from bad_contents import GOOD, MANY, containers, records, tables
from campaign import MIB, Fault, campaign, options, text, write_records

MEMORY = ["--memory", "64M", "-w", "2"]
ANY = (0, 3)
# Where records go in.
INTO = ["dedup", "load", "check", "lexicon"]


class Bad:
    """One case: the words of a command, the codes it may end with, what an error has to say."""

    def __init__(self, name, words, codes, says=(), make=None, env=None, stdin=None):
        self.name, self.words, self.codes, self.says = name, words, codes, says
        self.make, self.env, self.stdin = make or (lambda folder: None), env, stdin


def into(command, path):
    """The words by which a command reads records of a file."""
    return {
        "dedup": ["dedup", path, "--out", "out", *MEMORY],
        "load": ["load", "c", path, *MEMORY],
        "check": ["check", "c", path],
        "lexicon": ["lexicon", "build", path, "--out", "out", "--min-df", "1", "--min-length", "1", "-w", "2"],
    }[command]


def file_of(path, content, before=b"", behind=b""):
    """What writes a file of that content, which may be a function."""

    def write(folder):
        with open(folder / path, "wb") as file:
            file.write(before)
            file.write(content() if callable(content) else content)
            file.write(b"\n" + behind if behind else b"")

    return write


def bad_records(drawn):
    for name, line in records(drawn).items():
        for command in INTO:
            alone, among = file_of("in.jsonl", line), file_of("in.jsonl", line, MANY, MANY)
            yield Bad(f"{name}, alone: {command}", into(command, "in.jsonl"), ANY, make=alone)
            yield Bad(f"{name}, among others: {command}", into(command, "in.jsonl"), ANY, make=among)
        strict = ["dedup", "in.jsonl", "--strict", "--out", "out", *MEMORY]
        yield Bad(f"{name}, strict", strict, ANY, make=file_of("in.jsonl", line, MANY))


def bad_containers(drawn):
    for name, content in containers(drawn).items():
        path = name.replace(" ", "-")
        for command in ("dedup", "load"):
            yield Bad(f"{name}: {command}", into(command, path), ANY, [path], file_of(path, content))


def bad_tables(drawn):
    for name, content in tables(drawn).items():
        for command in ("dedup", "load"):
            yield Bad(f"CSV, {name}: {command}", into(command, "in.csv"), ANY, make=file_of("in.csv", content))


def strange_places(_drawn):
    """Things in the place of an input that are no files."""

    def loop(folder):
        (folder / "in.jsonl").symlink_to("in.jsonl")

    def folders(folder):
        (folder / "in.jsonl").mkdir()

    def circle(folder):
        (folder / "in.jsonl").mkdir()
        (folder / "in.jsonl" / "again").symlink_to("..")
        (folder / "in.jsonl" / "a.jsonl").write_bytes(MANY)

    def pipe_in_folder(folder):
        (folder / "in.jsonl").mkdir()
        os.mkfifo(folder / "in.jsonl" / "pipe.jsonl")
        (folder / "in.jsonl" / "a.jsonl").write_bytes(MANY)

    places = {
        "nothing": (lambda folder: None, (3,)),
        "an empty folder": (folders, (3,)),
        "a link to itself": (loop, (3,)),
        "a FIFO": (lambda folder: os.mkfifo(folder / "in.jsonl"), (1, 3)),
        "a folder with a circle": (circle, ANY),
        "a folder with a FIFO": (pipe_in_folder, ANY),
        "an empty file": (file_of("in.jsonl", b""), ANY),
    }
    for name, (make, codes) in places.items():
        for command in ("dedup", "load", "lexicon"):
            says = [] if name == "an empty file" else ["in.jsonl"]
            yield Bad(f"{name} as input: {command}", into(command, "in.jsonl"), codes, says, make)
    for device in ("/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "/dev/tty"):
        yield Bad(f"{device} as input", into("dedup", device), (0, 1, 3))
    yield Bad("a glob without a match", into("dedup", "*.nothing"), (3,), ["*.nothing"])
    yield Bad("a glob that is none", into("dedup", "a[.jsonl"), (2, 3), ["a["])
    yield Bad("a name with line ends", into("dedup", "a\nb\x1b[31m"), (3,))


def bad_options(_drawn):
    """Values of options that make no sense."""
    base = ["dedup", "good.jsonl", "--out", "out"]
    values = {
        "--threshold": ["0", "1.1", "-1", "nan", "inf", "1e-400", "0.5.5", "", "0x1", "9" * 1000],
        "--memory": ["0", "1", "1M", "-1G", "99999999999G", "G", "1.5.5G", ""],
        "--workers": ["0", "257", "-1", "x", "99999999999999999999"],
        "--ngram": ["0", "-1", "4294967296", "x"],
        "--keep": ["best", "field:", "field:x", "field:x:most", ""],
        "--text-field": ["", ".", "a..b"],
        "--method": ["", "joins", "imatch", "cosine"],
        "--preset": ["", "no-such", "../configs/web"],
        "--delimiter": ["", ",,", "\u00e9", '"'],
        "--stop-words": ["xx", ","],
        "--stem": ["klingon"],
        "--common-cap": ["-1", "x"],
        "--hosts": ["missing"],
        "--processes": ["0", "257", "x"],
        "--metrics": ["nowhere", "127.0.0.1", "127.0.0.1:99999", "256.1.1.1:80"],
        "--lexicon": ["missing", "good.jsonl", "."],
        "--config": ["missing", "good.jsonl", "."],
    }
    for option, choices in values.items():
        for value in choices:
            yield Bad(
                f"{option} {value[:20]!r}", [*base, f"{option}={value}"], (1, 2, 3, 4), make=file_of("good.jsonl", GOOD)
            )


def bad_configs(drawn):
    """Configuration files."""
    files = {
        "no TOML": b"this is = = no TOML",
        "an unknown key": b"unknown = 1\n",
        "a wrong type": b'threshold = "much"\n',
        "a wrong method": b'method = "guess"\n',
        "a huge number": b"threshold = 1e999\n",
        "deep arrays": b"a = " + b"[" * 100_000,
        "deep tables": b"[" + b"a." * 100_000 + b"a]\n",
        "invalid UTF-8": b'method = "\xff"\n',
        "NULs": bytes(1000),
        "17 MiB": b"#" * (17 * MIB),
        "drawn bytes": drawn.randbytes(1000),
        "keys twice": b"threshold = 0.5\nthreshold = 0.6\n",
        "an open string": b'method = "joi',
    }
    for name, content in files.items():
        yield Bad(
            f"configuration, {name}",
            ["dedup", "good.jsonl", "--out", "out", "--config", "bad.toml"],
            (2,),
            ["bad.toml"],
            lambda folder, content=content: (
                (folder / "good.jsonl").write_bytes(GOOD),
                (folder / "bad.toml").write_bytes(content),
            ),
        )


def bad_papers(drawn):
    """Files that people write beside the records: hosts, secrets, ids, labels, lexicons."""

    def both(name, content):
        return lambda folder: ((folder / "good.jsonl").write_bytes(MANY), (folder / name).write_bytes(content))

    hosts = {
        "no port": b"localhost\n",
        "a wrong port": b"localhost:99999\n",
        "no host": b":2101\n",
        "nothing": b"",
        "one address twice": b"127.0.0.1:2101\n127.0.0.1:2101\n",
        "binary": drawn.randbytes(500),
        "2 MiB": b"#" * (2 * MIB),
        "300 hosts": b"".join(b"127.0.0.1:%d\n" % (3000 + at) for at in range(300)),
        "a host that is nowhere": b"127.0.0.1:2101\nno-such-host.invalid:2102\n",
    }
    for name, content in hosts.items():
        words = [
            "dedup",
            "good.jsonl",
            "--dry-run",
            "--hosts",
            "bad",
            "--process",
            "0",
            "--join-timeout",
            "1",
            "--insecure",
        ]
        yield Bad(f"hosts, {name}", words, (1, 2, 5), make=both("bad", content))
    for name, content in {"short": b"short", "nothing": b"", "binary": b"\xff" * 5, "2 MiB": b"x" * (2 * MIB)}.items():
        words = [
            "dedup",
            "good.jsonl",
            "--dry-run",
            "-n",
            "2",
            "-p",
            "0",
            "--secret-file",
            "bad",
            "--join-timeout",
            "1",
        ]
        yield Bad(f"secret, {name}", words, (1, 2, 5), make=both("bad", content))
    for name, content in {
        "binary": drawn.randbytes(3000),
        "a long line": b"x" * (2 * MIB),
        "nothing": b"",
        "NULs": bytes(100),
    }.items():
        yield Bad(f"ids, {name}: delete", ["delete", "c", "--ids", "bad", *MEMORY], ANY, make=both("bad", content))
        yield Bad(
            f"ids, {name}: delete --strict", ["delete", "c", "--ids", "bad", "--strict"], ANY, make=both("bad", content)
        )
        yield Bad(f"ids, {name}: group", ["group", "c", "bad"], ANY, make=both("bad", content))
    labels = {
        "binary": drawn.randbytes(3000),
        "one column": b"g1\n",
        "unknown ids": b"a,b\nc,d\n",
        "nothing": b"",
        "no JSON": b"{\n",
        "a long line": b"x" * (3 * MIB),
    }
    for name, content in labels.items():
        words = ["evaluate", "good.jsonl", "--preset", "exact", "--labels", "bad"]
        yield Bad(f"labels, {name}", words, (0, 2, 3), make=both("bad", content))
    lexicons = {
        "nothing": b"",
        "binary": drawn.randbytes(3000),
        "a wrong digest": b"alike lexicon, format 1, xxh3-128 " + b"0" * 32 + b"\n{}\n",
        "a later format": b"alike lexicon, format 9, xxh3-128 " + b"0" * 32 + b"\n",
        "a head": b"alike lexicon",
    }
    for name, content in lexicons.items():
        for words in (
            ["lexicon", "show", "bad"],
            ["lexicon", "compare", "bad", "bad"],
            ["lexicon", "merge", "bad", "bad", "--out", "out"],
            ["dedup", "good.jsonl", "--method", "imatch", "--lexicon", "bad", "--out", "out"],
        ):
            yield Bad(f"lexicon, {name}: {words[0]} {words[1]}", words, (2, 4), ["bad"], both("bad", content))


def bad_uses(_drawn):
    """Commands in places where they cannot be."""

    def prepared(folder):
        (folder / "good.jsonl").write_bytes(MANY)
        (folder / "file").write_bytes(b"precious")
        (folder / "folder").mkdir()
        (folder / "folder" / "precious").write_bytes(b"x")
        (folder / "dangling").symlink_to("nowhere")

    for out in (
        "file",
        "folder",
        "dangling",
        "file/below",
        "",
        ".",
        "/",
        "..",
        "/proc/x",
        "o" * 300,
        "a/" * 3000,
        "a\nb/../../c",
    ):
        yield Bad(f"--out {out[:20]!r}", ["dedup", "good.jsonl", "--out", out], (0, 1, 2), make=prepared)
        if out != "file":
            yield Bad(f"load {out[:20]!r}", ["load", out, "good.jsonl"], (0, 1, 2, 4), make=prepared)
    for command in ("clusters", "documents", "stats", "info", "pairs", "changes", "fsck", "compact", "recluster"):
        for place in ("nowhere", "file", "folder", "dangling"):
            yield Bad(f"{command} {place}", [command, place], (4,), [place], prepared)
    yield Bad("delete nowhere", ["delete", "nowhere", "--ids", "good.jsonl"], (4,), ["nowhere"], prepared)
    yield Bad("export over a folder", ["export", "c", "--out", "folder"], (2,), ["folder"], prepared)
    yield Bad("explain an unknown one", ["explain", "c", "unknown"], (2, 3), ["unknown"], prepared)
    yield Bad("load another method", ["load", "c", "good.jsonl", "--method", "exact"], (2,), ["method"], prepared)
    yield Bad(
        "delete too many", ["load", "c", "good.jsonl", "--delete-missing", "--max-delete", "0"], (0, 3), make=prepared
    )
    yield Bad("changes since a word", ["changes", "c", "--since", "x"], (2,), ["x"], prepared)
    yield Bad("recluster below the threshold", ["recluster", "c", "--threshold", "0.1"], (2,), ["0.1"], prepared)
    yield Bad("records of standard input that is closed", ["dedup", "-", "--out", "out"], ANY, make=prepared)


def listed(drawn):
    """All cases, in one order."""
    kinds = (bad_records, bad_containers, bad_tables, strange_places, bad_options, bad_configs, bad_papers, bad_uses)
    return [bad for kind in kinds for bad in kind(drawn)]


def tree(folder):
    """Everything below a folder, and how long each file is."""
    found = {}
    for path in folder.rglob("*"):
        whole = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = path.stat().st_size if whole else None
    return found


def judge(program, bad, ran, before):
    """The rules of all cases."""
    if ran.code not in bad.codes:
        raise Fault("wrong", f"{bad.name}: {ran}; should be {bad.codes}")
    if ran.peak > 96 * MIB and "--memory" in bad.words:
        raise Fault("wrong", f"{bad.name} took {ran.peak // MIB} MiB")
    after = tree(program.folder)
    if ran.code == 0:
        return
    if "error" not in ran.stderr or len(ran.stderr) > 100_000:
        raise Fault("wrong", f"{bad.name}: no word why, or too many: {ran}")
    if "\x1b" in ran.stderr or "\u202e" in ran.stderr:
        raise Fault("wrong", f"{bad.name}: the terminal is told what an input says")
    for word in bad.says:
        if word not in ran.stderr:
            raise Fault("wrong", f"{bad.name}: nothing of {word}: {ran}")
    left = {name: size for name, size in after.items() if before.get(name, -1) != size and name != "c/lock"}
    gone = before.keys() - after.keys()
    if left or gone:
        raise Fault("wrong", f"{bad.name}: {ran}; left {list(left)[:5]}, gone {list(gone)[:5]}")


def case(program, drawn, _left):
    """One bad thing."""
    cases = listed(drawn)
    # Few cases are of all kinds, too.
    step = max(len(cases) // drawn.count, 1)
    bad = cases[drawn.number * step % len(cases)]
    write_records(program.folder / "start.jsonl", [{"id": f"s{at}", "text": text(drawn)} for at in range(50)])
    program.good(["load", "c", "start.jsonl", "--quiet"])
    bad.make(program.folder)
    before = tree(program.folder)
    ran = program.run(bad.words, env=bad.env)
    judge(program, bad, ran, before)
    if ran.code != 0 and "load" == bad.words[0]:
        program.good(["fsck", "c"])
    shutil.rmtree(program.folder)
    program.folder.mkdir()
    return 1


if __name__ == "__main__":
    campaign(options(__doc__.split("\n", maxsplit=1)[0], 750), "bad inputs", case)
