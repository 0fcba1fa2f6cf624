#!/usr/bin/env python3
"""Repeated passages by obvious programs, and how fast `alike passages` is.

    benches/passages.py check ALIKE CORPUS.jsonl FOLDER [--bytes N]
    benches/passages.py speed ALIKE CORPUS.jsonl [--memory SIZE]
    benches/passages.py rules ALIKE CORPUS.jsonl

`check` takes the first N bytes of texts (10 MB) with all but ASCII letters, digits, blanks and `.,;:()` made blanks, cuts
repeated lines, paragraphs and runs of 50 words with ALIKE and with a program that keeps all of them in a dictionary, and
fails unless the texts that are left are equal.

`speed` prints seconds, those of the processor, and memory for each unit, on one worker and two.

`rules` prints the share of the text that ALIKE cuts, beside line rules as published: that of the code of C4 (a line is known
by itself, stripped and in lower case; one stays), and that of CCNet (digits are 0, control characters and punctuation beyond
ASCII go; its list of the latter is shorter), with one that stays, and as in its paper with none. Last comes the share of the
documents, and of their text, that repeat themselves by Gopher's measures (`alike repetition`).
"""
import argparse
import collections
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import unicodedata

WORD = re.compile(r"[a-z0-9]+")


def texts(corpus):
    with open(corpus, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def alike(program, corpus, *flags, command="passages"):
    command = [program, command, str(corpus), "--json", "--quiet", *flags]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def pieces(text, unit):
    """What may repeat: the words of a piece, and where it begins and ends."""
    found = []
    if unit == "tokens:50":
        words = [(match.group(), match.start(), match.end()) for match in WORD.finditer(text.lower())]
        for at in range(len(words) - 49):
            run = words[at : at + 50]
            found.append((" ".join(word for word, _, _ in run), run[0][1], run[-1][2]))
        return found
    at, within, starts = 0, False, []
    for line in text.splitlines(keepends=True):
        blank = not line.strip()
        if unit == "line" or (not blank and not within):
            starts.append(at)
        within = not blank
        at += len(line)
    for start, end in zip(starts, starts[1:] + [len(text)]):
        words = WORD.findall(text[start:end].lower())
        if words:
            found.append((" ".join(words), start, end))
    return found


def obvious(documents, unit):
    """What is left of texts without what stands before."""
    counts = collections.Counter()
    for text in documents:
        counts.update(hash(words) for words, _, _ in pieces(text, unit))
    known, left = {}, []
    for text in documents:
        marks = bytearray(len(text))
        firsts = bytearray(len(text))
        for words, start, end in pieces(text, unit):
            if counts[hash(words)] < 2:
                continue
            if words in known:
                marks[start:end] = b"\1" * (end - start)
            else:
                known[words] = True
                firsts[start:end] = b"\1" * (end - start)
        cut = "".join(c for c, mark, first in zip(text, marks, firsts) if first or not mark)
        if cut == text or cut.strip():
            left.append(cut)
    return left


def check(arguments):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True)
    documents, size = [], 0
    for text in texts(arguments.corpus):
        documents.append(re.sub(r"[^A-Za-z0-9 \n.,;:()]", " ", text))
        size += len(documents[-1])
        if size > arguments.bytes:
            break
    corpus = folder / "in.jsonl"
    with open(corpus, "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"text": text}) + "\n" for text in documents)
    for unit in ["line", "paragraph", "tokens:50"]:
        out = folder / "out"
        alike(arguments.alike, corpus, "--unit", unit, "--action", "cut", "--out", str(out))
        kept = list(texts(out / "kept" / "in.jsonl"))
        wanted = obvious(documents, unit)
        if kept != wanted:
            wrong = next((at for at, (a, b) in enumerate(zip(kept, wanted)) if a != b), min(len(kept), len(wanted)))
            sys.exit(f"{unit}: other texts are left, the first is number {wrong}")
        cut = size - sum(map(len, kept))
        print(f"{unit}: {size} bytes of {len(documents)} texts, {cut} cut, {len(kept)} texts left: equal")
        shutil.rmtree(out)
    shutil.rmtree(folder)


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def speed(arguments):
    memory = ["--memory", arguments.memory] if arguments.memory else []
    print("| unit | workers | seconds | CPU seconds | text MB/s of CPU | memory MB | repeats | cut |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for unit in ["line", "paragraph", "sentences:3", "tokens:50"]:
        for workers in ["1", "2"]:
            before = processor()
            of = alike(arguments.alike, arguments.corpus, "--dry-run", "--unit", unit, "-w", workers, *memory)
            took = processor() - before
            print(
                f"| `{unit}` | {workers} | {of['seconds']:.2f} | {took:.2f} | {of['text_bytes'] / 1e6 / took:.0f} | "
                f"{of['peak_memory_bytes'] / 1e6:.0f} | {of['repeated_share']:.1%} | {of['cut_share']:.1%} |"
            )


def rules(arguments):
    def c4(line):
        return line.strip().lower()

    def ccnet(line):
        def stays(c):
            kind = unicodedata.category(c)
            return kind != "Cc" and (c.isascii() or not kind.startswith("P"))

        return "".join(filter(stays, re.sub(r"\d", "0", line.strip().lower())))

    for name, same in [("C4, lines", c4), ("CCNet", ccnet)]:
        counts, size = collections.Counter(), 0
        for text in texts(arguments.corpus):
            lines = text.split("\n")
            size += sum(len(line.encode()) + 1 for line in lines) - 1
            counts.update(map(same, lines))
        known, but_one, every = set(), 0, 0
        for text in texts(arguments.corpus):
            for line in text.split("\n"):
                key, length = same(line), len(line.encode()) + 1
                every += length if counts[key] > 1 else 0
                but_one += length if key in known else 0
                known.add(key)
        print(f"{name}: {but_one / size:.2%} of {size} bytes, {every / size:.2%} if no first one stays")
    for unit in ["line", "paragraph", "sentences:3", "tokens:50"]:
        of = alike(arguments.alike, arguments.corpus, "--dry-run", "--unit", unit)
        print(f"alike, {unit}: {of['cut_share']:.2%}, {of['repeated_share']:.2%} if no first one stays")
    of = alike(arguments.alike, arguments.corpus, "--dry-run", command="repetition")
    print(f"Gopher: {of['above'] / of['documents']:.2%} of documents, {of['above_share']:.2%} of text")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True)
    for name, function in [("check", check), ("speed", speed), ("rules", rules)]:
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("alike")
        command.add_argument("corpus")
        if name == "check":
            command.add_argument("folder")
            command.add_argument("--bytes", type=int, default=10_000_000)
        if name == "speed":
            command.add_argument("--memory")
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
