#!/usr/bin/env python3
"""Bad inputs of every kind, and what the program says of them.

    benches/campaign/bad_inputs.py PROGRAM [COUNT] [--seed N] [--only CASE]

Each case is one command with one bad thing: a file, an option, a name. It has to end with one of the exit codes that are right
for it. An error has a message with what it is about. With `--memory 64M` no command may take more than 96 MiB. What failed leaves
nothing: no output, no temporary folder, no collection, or the one there was, as it was. COUNT beyond the number of cases
repeats those that draw bytes, with others."""

import gzip
import os
import shutil
import zlib

from campaign import MIB, Fault, campaign, options, text, write_records

GOOD = b'{"id": "g", "text": "a good record with some words"}\n'
MANY = b"".join(b'{"id": "g%d", "text": "a good record with number %d"}\n' % (at, at) for at in range(40))
MEMORY = ["--memory", "64M", "-w", "2"]
ANY = (0, 3)
# Where records go in.
INTO = ["dedup", "load", "check", "lexicon"]


def zstd_frame(content, window_byte=None):
    """A Zstandard frame of raw blocks; with a window byte it asks for that window."""
    head = b"\x28\xb5\x2f\xfd" + (bytes([0x00, window_byte]) if window_byte is not None else b"\x00\x58")
    blocks = [content[at:at + 100_000] for at in range(0, len(content), 100_000)] or [b""]
    for at, block in enumerate(blocks):
        head += ((len(block) << 3) | (at == len(blocks) - 1)).to_bytes(3, "little") + block
    return head


def zstd_bomb(blocks):
    """Repeated-byte blocks: 128 KiB each out of four bytes."""
    body = b"".join(((128 * 1024 << 3) | 2 | (at == blocks - 1)).to_bytes(3, "little") + b" " for at in range(blocks))
    return b"\x28\xb5\x2f\xfd\x00\x58" + body


def gzip_bomb(mib):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([packer.compress(b" " * MIB) for _ in range(mib)] + [packer.flush()])


def records(drawn):
    """Lines that are no records, by name; each is put among good ones and alone. Made when they are needed: some are long."""
    deep = 100_000
    return {
        "deep arrays": lambda: b'{"id": "a", "text": "x", "more": ' + b"[" * deep + b"]" * deep + b"}\n",
        "deep objects": lambda: b'{"id":"a","text":"x","o":' + b'{"o":' * deep + b"1" + b"}" * deep + b"}\n",
        "open arrays": lambda: b"[" * 1_000_000 + b"\n",
        "no JSON": lambda: b"this is no JSON\n",
        "a number": lambda: b"1e999\n",
        "a huge number": lambda: b'{"id": "a", "text": "x", "n": ' + b"9" * 100_000 + b"}\n",
        "a string": lambda: b'"text"\n',
        "an array": lambda: b'[{"id": "a", "text": "x"}]\n',
        "null": lambda: b"null\n",
        "half a record": lambda: b'{"id": "a", "text": "some wor',
        "two records a line": lambda: b'{"id": "a", "text": "x"} {"id": "b", "text": "x"}\n',
        "no text": lambda: b'{"id": "a"}\n',
        "no id": lambda: b'{"text": "a text without an id"}\n',
        "text is a number": lambda: b'{"id": "a", "text": 7}\n',
        "text is null": lambda: b'{"id": "a", "text": null}\n',
        "text is a list": lambda: b'{"id": "a", "text": ["x"]}\n',
        "id is a list": lambda: b'{"id": ["a"], "text": "some words of a text"}\n',
        "id is an object": lambda: b'{"id": {"a": 1}, "text": "some words of a text"}\n',
        "id is true": lambda: b'{"id": true, "text": "some words of a text"}\n',
        "an empty id": lambda: b'{"id": "", "text": "some words of a text"}\n',
        "an empty text": lambda: b'{"id": "a", "text": ""}\n',
        "a long id": lambda: b'{"id": "' + b"i" * 3_000_000 + b'", "text": "x"}\n',
        "a long key": lambda: b'{"' + b"k" * 3_000_000 + b'": 1, "id": "a", "text": "x"}\n',
        "many keys": lambda: b'{"id": "a", "text": "x"' + b"".join(b',"k%d":1' % at for at in range(200_000)) + b"}\n",
        "keys twice": lambda: b'{"id": "a", "id": "b", "text": "one text", "text": "another text"}\n',
        "a long line": lambda: b'{"id": "a", "text": "' + b"word " * 6_000_000 + b'"}\n',
        "a long line of nothing": lambda: b" " * 40_000_000 + b"\n",
        "a long word": lambda: b'{"id": "a", "text": "' + b"w" * 6_000_000 + b'"}\n',
        "half a surrogate": lambda: b'{"id": "a", "text": "\\ud800 words"}\n',
        "two wrong surrogates": lambda: b'{"id": "a", "text": "\\udc00\\ud800 words"}\n',
        "half an escape": lambda: b'{"id": "a", "text": "\\u12"}\n',
        "a wrong escape": lambda: b'{"id": "a", "text": "\\q"}\n',
        "a control character": lambda: b'{"id": "a", "text": "a\x01b"}\n',
        "a NUL": lambda: b'{"id": "a", "text": "a\x00b"}\n',
        "NULs": lambda: b"\x00" * 100_000,
        "invalid UTF-8": lambda: b'{"id": "a", "text": "a\xff\xfeb"}\n',
        "an overlong slash": lambda: b'{"id": "a", "text": "\xc0\xaf"}\n',
        "half a character": lambda: b'{"id": "a", "text": "\xe2\x82"}\n',
        "UTF-16": lambda: '{"id": "a", "text": "words"}\n'.encode("utf-16"),
        "a late byte order mark": lambda: GOOD + b"\xef\xbb\xbf" + GOOD,
        "old line ends": lambda: b'{"id": "a", "text": "x"}\r{"id": "b", "text": "y"}\r',
        "mixed line ends": lambda: b'{"id": "a", "text": "x y"}\r\n\r\n\n{"id": "b", "text": "y z"}\n',
        "names of the dangerous": lambda: b'{"id": "../../etc/passwd\\u001b[31m\\u202e", "text": "words of a text"}\n',
        "a million blank lines": lambda: b"\n" * 1_000_000,
        "combining marks": lambda: '{"id": "a", "text": "e'.encode() + "\u0301".encode() * 2_000_000 + b'"}\n',
        "drawn bytes": lambda: drawn.randbytes(drawn.randrange(1, 100_000)),
        "drawn letters": lambda: bytes(drawn.choice(b'{}[]",:\\ax1 \n') for _ in range(20_000)),
        "a record with drawn bytes": lambda: bytes(drawn.randrange(256) if drawn.random() < 0.1 else byte for byte in MANY),
    }


def containers(drawn):
    """Compressed files that are not what they should be, by name."""
    packed, frame = gzip.compress(MANY), zstd_frame(MANY)
    at, bit = drawn.randrange(10, len(packed)), 1 << drawn.randrange(8)
    return {
        "half a gzip.gz": lambda: packed[:len(packed) // 2],
        "a head of gzip.gz": lambda: packed[:5],
        "a gzip with a bit flipped.gz": lambda: packed[:at] + bytes([packed[at] ^ bit]) + packed[at + 1:],
        "gzip and rubbish.gz": lambda: packed + b"rubbish",
        "gzip and half another.gz": lambda: packed + packed[:-9],
        "gzip in gzip.gz": lambda: gzip.compress(packed),
        "a thousand gzips.gz": lambda: gzip.compress(GOOD) * 1000,
        "a gzip bomb.gz": lambda: gzip_bomb(600),
        "a bomb behind a gzip.gz": lambda: packed + gzip_bomb(300),
        "gzip of nothing.gz": lambda: gzip.compress(b""),
        "plain text.gz": lambda: MANY,
        "half a zstd.zst": lambda: frame[:len(frame) // 2],
        "a head of zstd.zst": lambda: frame[:3],
        "a zstd of a window of 2 TiB.zst": lambda: zstd_frame(MANY, 0xF8),
        "a zstd of a window of 2 GiB.zst": lambda: zstd_frame(MANY, 21 << 3),
        "a zstd of a window of 1 GiB.zst": lambda: zstd_frame(MANY, 20 << 3),
        "a wide window behind a zstd.zst": lambda: frame + zstd_frame(MANY, 20 << 3),
        "a zstd bomb.zst": lambda: zstd_bomb(5000),
        "zstd and rubbish.zst": lambda: frame + b"rubbish",
        "a zstd with a reserved block.zst": lambda: b"\x28\xb5\x2f\xfd\x00\x58\x07\x00\x00",
        "zstd in zstd.zst": lambda: zstd_frame(frame),
        "a skippable frame.zst": lambda: b"\x50\x2a\x4d\x18\xff\xff\xff\xff" + frame,
        "a zstd named gzip.gz": lambda: frame,
        "a bzip2.bz2": lambda: b"BZh91AY&SY" + drawn.randbytes(200),
        "an xz.xz": lambda: b"\xfd7zXZ\x00" + drawn.randbytes(200),
        "a zip.zip": lambda: b"PK\x03\x04" + drawn.randbytes(200),
        "a Parquet file.parquet": lambda: b"PAR1" + drawn.randbytes(200) + b"PAR1",
        "an Avro file.avro": lambda: b"Obj\x01" + drawn.randbytes(200),
        "an image.jsonl": lambda: b"\x89PNG\r\n\x1a\n" + drawn.randbytes(5000),
        "an ELF.jsonl": lambda: b"\x7fELF" + drawn.randbytes(5000),
    }


def tables(drawn):
    """Bad CSV, by name."""
    row = b'1,"some words"\n'
    return {
        "an open quote": lambda: b'id,text\n1,"never closed\n' + row * 20,
        "an open quote for long": lambda: b'id,text\n1,"never closed\n' + row * 3_000_000,
        "too many fields": lambda: b"id,text\n1,2,3,4\n" + row * 20,
        "too few fields": lambda: b"id,text\n1\n" + row * 20,
        "no header": lambda: b"",
        "a header alone": lambda: b"id,text\n",
        "no column of texts": lambda: b"id,body\n" + row,
        "columns of one name": lambda: b"text,id,text\na,1,words of b\n",
        "quotes within": lambda: b'id,text\n1,a "quoted" word\n2,"a"b"\n' + row * 30,
        "many columns": lambda: b",".join(b"c%d" % at for at in range(100_000)) + b"\n" + b"," * 99_999 + b"\n",
        "a long header": lambda: b"h" * 40_000_000 + b"\n" + row,
        "a NUL in a row": lambda: b"id,text\n1,a\x00b\n",
        "invalid UTF-8": lambda: b"id,text\n1,a\xffb\n" + row * 20,
        "a byte order mark": lambda: b"\xef\xbb\xbfid,text\n" + row,
        "UTF-16": lambda: "id,text\n1,words\n".encode("utf-16"),
        "old line ends": lambda: b"id,text\r1,words\r2,other words\r",
        "drawn": lambda: b"id,text\n" + bytes(drawn.choice(b',"\n\rab ') for _ in range(20_000)),
    }


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
            yield Bad(f"{option} {value[:20]!r}", [*base, f"{option}={value}"], (1, 2, 3, 4), make=file_of("good.jsonl", GOOD))


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
        yield Bad(f"configuration, {name}", ["dedup", "good.jsonl", "--out", "out", "--config", "bad.toml"], (2,), ["bad.toml"],
                  lambda folder, content=content: ((folder / "good.jsonl").write_bytes(GOOD),
                                                   (folder / "bad.toml").write_bytes(content)))


def bad_papers(drawn):
    """Files that people write beside the records: hosts, secrets, ids, labels, lexicons."""
    def both(name, content):
        return lambda folder: ((folder / "good.jsonl").write_bytes(MANY), (folder / name).write_bytes(content))

    hosts = {
        "no port": b"localhost\n", "a wrong port": b"localhost:99999\n", "no host": b":2101\n", "nothing": b"",
        "one address twice": b"127.0.0.1:2101\n127.0.0.1:2101\n", "binary": drawn.randbytes(500),
        "2 MiB": b"#" * (2 * MIB), "300 hosts": b"".join(b"127.0.0.1:%d\n" % (3000 + at) for at in range(300)),
        "a host that is nowhere": b"127.0.0.1:2101\nno-such-host.invalid:2102\n",
    }
    for name, content in hosts.items():
        words = ["dedup", "good.jsonl", "--dry-run", "--hosts", "bad", "--process", "0", "--join-timeout", "1", "--insecure"]
        yield Bad(f"hosts, {name}", words, (1, 2, 5), make=both("bad", content))
    for name, content in {"short": b"short", "nothing": b"", "binary": b"\xff" * 5, "2 MiB": b"x" * (2 * MIB)}.items():
        words = ["dedup", "good.jsonl", "--dry-run", "-n", "2", "-p", "0", "--secret-file", "bad", "--join-timeout", "1"]
        yield Bad(f"secret, {name}", words, (1, 2, 5), make=both("bad", content))
    for name, content in {"binary": drawn.randbytes(3000), "a long line": b"x" * (2 * MIB), "nothing": b"",
                          "NULs": bytes(100)}.items():
        yield Bad(f"ids, {name}: delete", ["delete", "c", "--ids", "bad", *MEMORY], ANY, make=both("bad", content))
        yield Bad(f"ids, {name}: delete --strict", ["delete", "c", "--ids", "bad", "--strict"], ANY, make=both("bad", content))
        yield Bad(f"ids, {name}: group", ["group", "c", "bad"], ANY, make=both("bad", content))
    labels = {"binary": drawn.randbytes(3000), "one column": b"g1\n", "unknown ids": b"a,b\nc,d\n", "nothing": b"",
              "no JSON": b"{\n", "a long line": b"x" * (3 * MIB)}
    for name, content in labels.items():
        words = ["evaluate", "good.jsonl", "--preset", "exact", "--labels", "bad"]
        yield Bad(f"labels, {name}", words, (0, 2, 3), make=both("bad", content))
    lexicons = {"nothing": b"", "binary": drawn.randbytes(3000), "a wrong digest": b"alike lexicon, format 1, xxh3-128 " + b"0" * 32 + b"\n{}\n",
                "a later format": b"alike lexicon, format 9, xxh3-128 " + b"0" * 32 + b"\n", "a head": b"alike lexicon"}
    for name, content in lexicons.items():
        for words in (["lexicon", "show", "bad"], ["lexicon", "compare", "bad", "bad"], ["lexicon", "merge", "bad", "bad", "--out", "out"],
                      ["dedup", "good.jsonl", "--method", "imatch", "--lexicon", "bad", "--out", "out"]):
            yield Bad(f"lexicon, {name}: {words[0]} {words[1]}", words, (2, 4), ["bad"], both("bad", content))


def bad_uses(_drawn):
    """Commands in places where they cannot be."""
    def prepared(folder):
        (folder / "good.jsonl").write_bytes(MANY)
        (folder / "file").write_bytes(b"precious")
        (folder / "folder").mkdir()
        (folder / "folder" / "precious").write_bytes(b"x")
        (folder / "dangling").symlink_to("nowhere")

    for out in ("file", "folder", "dangling", "file/below", "", ".", "/", "..", "/proc/x", "o" * 300, "a/" * 3000, "a\nb/../../c"):
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
    yield Bad("delete too many", ["load", "c", "good.jsonl", "--delete-missing", "--max-delete", "0"], (0, 3), make=prepared)
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
    bad = cases[drawn.number % len(cases)]
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
