#!/usr/bin/env python3
"""What `alike decontaminate` finds and costs. Sentences of one corpus are the items of a benchmark. Each is planted in a
document of another corpus, in other case, with other punctuation, and with one of its words replaced. Counted are the items
that are found, and the documents that are marked beside those in which something was planted. The cost is that of a core for
a document, beside that of equal texts alone (`dedup --method exact`), which reads and tokenises the same texts.

    cargo build --release && benches/decontaminate.py target/release/alike ITEMS.jsonl CORPUS.jsonl
"""

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def texts(path, most):
    """The texts of a file of JSON Lines, the first so many."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number == most:
                return
            yield json.loads(line)["text"]


def sentences(path, few, many):
    """Sentences of so many words, each once."""
    seen = set()
    for text in texts(path, None):
        for sentence in re.split(r"(?<=[.?!;])\s+", text):
            words = WORD.findall(sentence)
            key = " ".join(words).lower()
            if few <= len(words) <= many and sentence.isascii() and key not in seen:
                seen.add(key)
                yield sentence


def changed(sentence, others, draw):
    """The sentence in other case, with other punctuation, and so many other words somewhere."""
    words = WORD.findall(sentence)
    for at in draw.sample(range(len(words)), min(others, len(words))):
        words[at] = f"zq{draw.randrange(10**6)}"
    case = draw.choice([str.upper, str.lower, str.title, str.swapcase])
    marks = [draw.choice([" ", ", ", " - ", "; ", "\n", " \u201c"]) for _ in words]
    return "".join(case(word) + mark for word, mark in zip(words, marks))


def run(alike, *arguments):
    """Runs alike: its report, seconds of processors, and seconds."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([alike, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, used, time.monotonic() - begun


def write(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


def planted(args, folder, draw):
    """What is found of planted items, and what beside them."""
    items = draw.sample(list(sentences(args.items, args.few, args.many)), args.planted)
    clean = list(texts(args.corpus, None))
    clean = draw.sample(clean, min(args.clean, len(clean)))
    rows = [{"id": f"clean{at}", "text": text} for at, text in enumerate(clean)]
    for at, item in enumerate(items):
        words = draw.choice(clean).split(" ")
        place = draw.randrange(len(words) + 1)
        text = " ".join([*words[:place], "\n" + changed(item, args.others, draw) + "\n", *words[place:]])
        rows.append({"id": f"planted{at}", "text": text})
    draw.shuffle(rows)
    corpus, benchmark, out = (os.path.join(folder, name) for name in ("corpus.jsonl", "items.jsonl", "out"))
    write(corpus, rows)
    write(benchmark, [{"id": f"planted{at}", "text": item} for at, item in enumerate(items)])
    run(args.alike, "decontaminate", corpus, "--benchmarks", f"items={benchmark}", "--out", out, *args.options)
    with open(os.path.join(out, "contaminated.jsonl"), encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    own = {row["id"] for row in found if row["id"] == row["item"]}
    others = [row for row in found if row["id"] != row["item"]]
    print(f"planted items found: {len(own)} of {len(items)}, of {args.few} to {args.many} words")
    print(f"clean documents marked: {len({row['id'] for row in others})} of {len(clean)}")
    for row in others[:5]:
        print(f"  {row['share']:.2f} {row['passage'][:100]!r} as {row['item']}")
    return benchmark


def cost(args, benchmark):
    """What it costs beside reading and tokenising."""
    file = ["--dry-run", "-w", "1", "-q"]
    best = {}
    for name, arguments in (
        ("equal texts", ["dedup", args.corpus, "--method", "exact", *file]),
        ("items", ["decontaminate", args.corpus, "--benchmarks", benchmark, "--json", *file, *args.options]),
    ):
        runs = [run(args.alike, *arguments) for _ in range(args.times)]
        best[name] = min(used for _, used, _ in runs), min(seconds for _, _, seconds in runs)
        report = runs[0][0]
    report = json.loads(report)
    documents, megabytes = report["documents"], os.path.getsize(args.corpus) / 1e6
    for name, (used, seconds) in best.items():
        each = used / documents * 1e6
        print(f"{name}: {used:.2f} s of a core, {each:.1f} us a document, {megabytes / seconds:.0f} MB/s")
    more = (best["items"][0] - best["equal texts"][0]) / documents * 1e6
    print(f"more than equal texts: {more:.1f} us a document, {documents} documents, {report['texts']} texts looked for, "
          f"{report['index_bytes'] / 1e6:.1f} MB of index")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alike")
    parser.add_argument("items", help="JSON Lines whose sentences are items")
    parser.add_argument("corpus", help="JSON Lines in which they are planted")
    parser.add_argument("--planted", type=int, default=200)
    parser.add_argument("--clean", type=int, default=10_000)
    parser.add_argument("--others", type=int, default=1, help="words of each item that are replaced")
    parser.add_argument("--few", type=int, default=8, help="words of the shortest item")
    parser.add_argument("--many", type=int, default=60, help="words of the longest item")
    parser.add_argument("--benchmark-size", type=int, default=10_000, help="items when the cost is measured")
    parser.add_argument("--times", type=int, default=3, help="runs whose best is the cost; 0 to measure none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--options", type=str.split, default=[], help="of decontaminate: --options='--threshold 0.5'")
    args = parser.parse_args()
    draw = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        planted(args, folder, draw)
        if args.times == 0:
            return
        benchmark = os.path.join(folder, "benchmark.jsonl")
        some = list(sentences(args.items, args.few, args.many))
        some = draw.sample(some, min(args.benchmark_size, len(some)))
        write(benchmark, [{"id": str(at), "text": text} for at, text in enumerate(some)])
        cost(args, benchmark)


if __name__ == "__main__":
    main()
