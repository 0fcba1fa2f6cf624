#!/usr/bin/env python3
"""Writes ORDINARY (the first 200 MB of a JSONL file) and MASS (the same shuffled with 100,000 near-copies of one page
of 400 words, each with one to three words changed):

    benches/near_copies.py FILE.jsonl ORDINARY.jsonl MASS.jsonl
    alike dedup ORDINARY.jsonl --dry-run --clustering transitive -w 1
    alike dedup MASS.jsonl     --dry-run --clustering transitive -w 1
"""
import json
import random
import sys


def main():
    source, ordinary_path, mass_path = sys.argv[1:]
    random.seed(5)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(random.choice(letters) for _ in range(random.randint(2, 9))) for _ in range(30_000)]
    page = [random.choice(words) for _ in range(400)]
    ordinary, size = [], 0
    with open(source, encoding="utf-8") as lines:
        for line in lines:
            if size > 200e6:
                break
            ordinary.append(line)
            size += len(line)
    copies = []
    for number in range(100_000):
        copy = list(page)
        for _ in range(random.randint(1, 3)):
            copy[random.randrange(len(copy))] = random.choice(words)
        copies.append(json.dumps({"id": f"copy{number}", "text": " ".join(copy)}) + "\n")
    with open(ordinary_path, "w", encoding="utf-8") as out:
        out.writelines(ordinary)
    mass = ordinary + copies
    random.shuffle(mass)
    with open(mass_path, "w", encoding="utf-8") as out:
        out.writelines(mass)


main()
