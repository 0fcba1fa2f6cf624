#!/usr/bin/env python3
"""Writes a family of pages: N texts of 400 words that share a template, each with as many words of its own as give any
two of them the resemblance J in shingles of 5 words.

    benches/families.py N J OUT.jsonl
    alike dedup OUT.jsonl --dry-run -w 2
"""
import json
import random
import sys

WORDS = 400
SHINGLES = WORDS - 4


def main():
    count, resemblance, path = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    rng = random.Random(7)
    own = round(SHINGLES * (1 - resemblance) / (1 + resemblance))
    template = " ".join(f"t{rng.randrange(10**6)}" for _ in range(WORDS - own))
    with open(path, "w", encoding="utf-8") as out:
        for page in range(count):
            words = " ".join(f"p{rng.randrange(10**9)}" for _ in range(own))
            out.write(json.dumps({"id": f"page{page}", "text": f"{template} {words}"}) + "\n")


if __name__ == "__main__":
    main()
