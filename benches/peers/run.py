#!/usr/bin/env python3
"""alike beside other programs that find near-duplicates, on a corpus of your own.

    benches/peers/run.py CORPUS.jsonl [--alike PROGRAM] [--threshold 0.8] [--peers a,b] [--text-field text] [--json OUT]
                         [--work FOLDER] [--python PYTHON] [--alike-python PYTHON] [--check N] [--limit SECONDS]

Makes a virtual environment for each peer in FOLDER (.peers) at its first run, from `requirements/`. Each peer runs as a process
of its own on the same corpus: once as its own documentation has it, and once with the shingles of alike where it takes tokens.
The truth is the exact Jaccard similarity of sets of 5-word shingles. A slow, obvious program finds all pairs of N documents
(10,000), and the run fails unless `alike dedup --pairs` finds the same ones with the same similarities. Those of the whole corpus
are then the pairs of `alike`. README.md says what the columns of the table are.
"""
import argparse
import array
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
from fractions import Fraction

from environments import environment, installed
from judge import Truth, keep_first
from measure import measured
from twin import exact_pairs

HERE = pathlib.Path(__file__).resolve().parent
BLOCK = 50
SHINGLES = "5-word shingles, ours"
# Name, environment, package, and recipes: what it compares, and the word for its program.
PEERS = [
    ("datasketch", "datasketch", "datasketch", [("words", "own"), (SHINGLES, "shingles")]),
    ("rensa", "rensa", "rensa", [("words", "own"), ("3-word shingles, sampled (rho)", "rho"), (SHINGLES, "shingles")]),
    ("gaoya", "gaoya", "gaoya", [("runs of 3 and 4 characters", "own"), (SHINGLES, "shingles")]),
    ("fastsketchlsh", "fastsketchlsh", "fastsketchlsh", [("words", "own"), (SHINGLES, "shingles")]),
    ("text-dedup", "text-dedup", "text-dedup", [("5-word shingles of its own", "own")]),
    ("semhash", "semhash", "semhash", [("vectors of tokens", "own")]),
]
# Sketches say what is alike, so they take no threshold: features of 14 hashes, of which 2 of 6 agree, and 14 bands of 8.
OURS = [("alike", []), ("alike minhash", ["--method", "minhash"]), ("alike bands", ["--preset", "datatrove"])]


def prepare(corpus, field, out):
    """Writes the corpus as all read it: rows by number, and their texts."""
    count = left_out = 0
    with open(corpus, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as file:
        for line in lines:
            text = json.loads(line).get(field) if line.strip() else None
            if not isinstance(text, str):
                left_out += 1
                continue
            file.write(json.dumps({"id": count, "text": text}, ensure_ascii=False) + "\n")
            count += 1
    if left_out:
        print(f"{left_out} lines without a text in {field!r} are left out", flush=True)
    return count


def rows_of(path):
    found = array.array("I")
    if path.exists():
        found.frombytes(path.read_bytes())
    return found


def alike(program, corpus, out, flags):
    """Runs alike, and gives what it took."""
    command = [program, "dedup", str(corpus), "--pairs", "--out", str(out), "--quiet", *flags]
    return measured(command, f"{out}.log")


def alike_pairs(out):
    with open(out / "pairs.jsonl", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            yield int(pair["a"]), int(pair["b"]), pair["resemblance"]


def check(program, corpus, count, sample, threshold, work):
    """Fails unless alike finds the pairs of the obvious program among blocks of documents, evenly spread."""
    step, folder = max(1, -(-count // sample)), work / "check"
    folder.mkdir()
    with open(corpus, encoding="utf-8") as lines:
        # Neighbours are often of one family, so what is taken holds some.
        texts = [json.loads(line)["text"] for at, line in enumerate(lines) if at // BLOCK % step == 0]
    with open(folder / "sample.jsonl", "w", encoding="utf-8") as file:
        for row, text in enumerate(texts):
            file.write(json.dumps({"id": row, "text": text}, ensure_ascii=False) + "\n")
    alike(program, folder / "sample.jsonl", folder / "out", ["--threshold", threshold])
    expected, found = exact_pairs(texts, Fraction(threshold)), list(alike_pairs(folder / "out"))
    for a, b, similarity in found:
        if (a, b) not in expected or abs(float(expected[a, b]) - similarity) > 1e-12:
            raise SystemExit(f"alike says {similarity} of {a} and {b}, the obvious program {expected.get((a, b))}")
    truth = Truth(len(texts), found)
    missed = [pair for pair in expected if not truth.holds(*pair)]
    if missed or truth.pairs != len(expected):
        raise SystemExit(f"alike has {truth.pairs} pairs, the obvious program {len(expected)}; without {missed[:5]}")
    print(f"{len(texts)} documents, {len(expected)} pairs: alike finds what the obvious program finds", flush=True)
    return {"documents": len(texts), "pairs": len(expected)}


def answer_of_alike(out):
    with open(out / "duplicates.jsonl", encoding="utf-8") as lines:
        removed = [int(json.loads(line)["id"]) for line in lines]
    return list(alike_pairs(out)), removed


def score_classes(truth, count, pairs):
    """Right and all pairs of an answer whose pairs of the first documents of two texts stand for all of these texts."""
    of_answer = Truth(count, ((a, b, 1 if truth.of[a] == truth.of[b] else 0.5) for a, b, _ in pairs))
    right = sum(size * (size - 1) // 2 for size in of_answer.size.values())
    for a, near in of_answer.near.items():
        right += sum(of_answer.size[a] * of_answer.size[b] for b in near if a < b and truth.holds(a, b))
    return right, of_answer.pairs


def scored(row, truth, right, found):
    row.update(pairs=found, recall=right / truth.pairs if truth.pairs else 1, precision=right / found if found else 1)


def removal(row, truth, removed):
    left, lost = truth.judge_removal(removed)
    row.update(removed=sum(removed), left=left, lost=lost)


def marks(count, rows):
    found = bytearray(count)
    for row in rows:
        found[row] = 1
    return found


def run_peer(python, script, corpus, folder, threshold, recipe, limit):
    folder.mkdir()
    # A library that asks a hub for something gets none: nothing but the corpus may decide.
    outside = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true"}
    command = [python, str(HERE / script), str(corpus), str(folder), threshold, recipe]
    return measured(command, folder / "log", limit, outside)


def judge_peer(row, truth, count, folder, of_texts):
    """Fills in the row of a peer from what it wrote; pairs may be of the first documents of two texts."""
    row["phases"] = json.loads((folder / "phases.json").read_text())
    if (folder / "pairs.bin").exists() and of_texts:
        pairs = rows_of(folder / "pairs.bin")
        scored(row, truth, *score_classes(truth, count, [(a, b, None) for a, b in zip(pairs[::2], pairs[1::2])]))
    elif (folder / "pairs.bin").exists():
        pairs = rows_of(folder / "pairs.bin")
        scored(row, truth, *truth.judge_pairs(pairs))
        removal(row, truth, keep_first(count, pairs))
    if (folder / "removed.bin").exists():
        removal(row, truth, marks(count, rows_of(folder / "removed.bin")))
    if (folder / "flagged.bin").exists():
        flagged = rows_of(folder / "flagged.bin")
        right, real = sum(map(truth.has_partner, flagged)), sum(map(truth.has_partner, range(count)))
        row.update(flagged=len(flagged), flagged_recall=right / max(1, real), flagged_precision=right / max(1, len(flagged)))


def number(value):
    return "-" if value is None else f"{value:,}"


def share(value):
    if value is None:
        return "-"
    # Nothing is called whole that is not.
    return "1" if value == 1 else f"{min(value, 0.9999):.4f}" if value > 0.999 else f"{value:.3f}"


HEAD = [
    "| program | compares | seconds | of processors | in the library | MB | pairs | recall | precision | removed | left | lost |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
]


def line_of(row):
    """A row of the table."""
    if "stopped" in row:
        return f"| {row['program']} | {row['compares']} | {row['stopped']} |" + " |" * 9
    answer = [share(row.get("recall")), share(row.get("precision")), number(row.get("removed"))]
    if "flagged" in row:
        answer = [share(row["flagged_recall"]), share(row["flagged_precision"]), f"{row['flagged']:,}"]
        answer = [f"{cell} (flags)" for cell in answer]
    find = row["phases"]["find"] if "phases" in row else row["wall"]
    cells = [row["program"], row["compares"], f"{row['wall']:.1f}", f"{row['cpu']:.1f}", f"{find:.1f}", f"{row['peak'] / 1e6:,.0f}"]
    cells += [number(row.get("pairs")), *answer, number(row.get("left")), number(row.get("lost"))]
    return "| " + " | ".join(cells) + " |"


def has_module(python):
    command = [python, "-c", "import alike, pyarrow; alike.dedup"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Report:
    """The rows so far: printed as they come, and kept in a file, so that what was measured outlives what stops the run."""

    def __init__(self, path, facts):
        self.path, self.facts = path, {**facts, "rows": [], "versions": {}}
        print("\n".join(["", *HEAD]), flush=True)

    def add(self, row):
        self.facts["rows"].append(row)
        print(line_of(row), flush=True)
        if self.path:
            pathlib.Path(self.path).write_text(json.dumps(self.facts, indent=1))


def run_ours(options, corpus, run, count):
    """The truth, and the rows of alike."""
    rows, truth = [], None
    for name, flags in OURS:
        out = run / name.replace(" ", "-")
        took = alike(options.alike, corpus, out, flags or ["--threshold", options.threshold])
        pairs, removed = answer_of_alike(out)
        truth = truth or Truth(count, pairs)
        row = {"program": name, "compares": "5-word shingles", **took}
        scored(row, truth, *score_classes(truth, count, pairs))
        removal(row, truth, marks(count, removed))
        rows += [row] if name in options.peers else []
        shutil.rmtree(out)
    return truth, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--alike", default="alike")
    parser.add_argument("--threshold", default="0.8")
    all_names = [name for name, _ in OURS] + ["alike (Python)"] + [peer[0] for peer in PEERS]
    parser.add_argument("--peers", type=lambda names: names.split(","), default=all_names)
    parser.add_argument("--text-field", default="text")
    parser.add_argument("--json")
    parser.add_argument("--work", default=".peers")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--alike-python", default=sys.executable)
    parser.add_argument("--check", type=int, default=10000)
    parser.add_argument("--limit", type=float, default=1800)
    options = parser.parse_args()
    unknown = set(options.peers) - set(all_names)
    if unknown:
        parser.error(f"no such peers: {', '.join(sorted(unknown))}; there are {', '.join(all_names)}")
    work, jobs = pathlib.Path(options.work).resolve(), []
    for peer in PEERS:
        if peer[0] in options.peers:
            jobs.append((*peer, environment(work / "environments", peer[1], options.python)))
    run = work / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    corpus = run / "corpus.jsonl"
    count = prepare(options.corpus, options.text_field, corpus)
    version = subprocess.run([options.alike, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    checked = check(options.alike, corpus, count, options.check, options.threshold, run)
    truth, rows = run_ours(options, corpus, run, count)
    size = os.path.getsize(corpus)
    print(f"{count:,} documents, {size / 1e6:.0f} MB, {truth.pairs:,} pairs of at least {options.threshold}; alike {version}")
    if "alike (Python)" in options.peers:
        if has_module(options.alike_python):
            jobs.insert(0, ("alike (Python)", "alike", None, [("5-word shingles", "own")], options.alike_python))
        else:
            print("alike (Python) is left out: the module alike, or pyarrow, cannot be imported")
    facts = {"date": str(datetime.date.today()), "python": platform.python_version(), "processors": os.cpu_count()}
    facts.update(alike=version, documents=count, bytes=size, threshold=options.threshold, pairs=truth.pairs, check=checked)
    report = Report(options.json, facts)
    for row in rows:
        report.add(row)
    for name, script, package, recipes, python in jobs:
        title = name
        if package:
            report.facts["versions"][name] = installed(python)
            title = f"{name} {report.facts['versions'][name][package]}"
        for compares, recipe in recipes:
            folder = run / f"{script}-{recipe}"
            row = {"program": title, "compares": compares}
            program = f"peer_{script.replace('-', '_')}.py"
            took = run_peer(python, program, corpus, folder, options.threshold, recipe, options.limit)
            if took:
                row.update(took)
                judge_peer(row, truth, count, folder, script == "alike")
            else:
                row["stopped"] = f"stopped after {options.limit:,.0f}"
            report.add(row)
            shutil.rmtree(folder)
    shutil.rmtree(run)


if __name__ == "__main__":
    main()
