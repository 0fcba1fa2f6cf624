#!/usr/bin/env python3
"""Writes a family of pages: N texts of 400 words that share a template, each with as many words of its own as give any
two of them the resemblance J in shingles of 5 words, or the next lower one that whole words allow.

    benches/families.py N J OUT.jsonl [--unequal] [--nested SECTIONS] [--shared PAGES] [--linked SHARE]
    alike dedup OUT.jsonl --dry-run -w 2
"""
import argparse
import json
import math
import random

WORDS = 400
SHINGLES = WORDS - 4


def words(rng, letter, count, different=10**5):
    """So many words of so many different ones."""
    return [f"{letter}{rng.randrange(different)}" for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("pages", type=int, metavar="N")
    parser.add_argument("resemblance", type=float, metavar="J")
    parser.add_argument("out", metavar="OUT.jsonl")
    parser.add_argument("--unequal", action="store_true", help="pages have one to four times as many words of their own")
    parser.add_argument("--nested", type=int, default=1, help="half of the template is of one of so many sections")
    parser.add_argument("--shared", type=int, default=0, help="half of the own words are the same in so many pages")
    parser.add_argument("--linked", type=float, default=0, help="the share of pages that copy the one before but for a word")
    args = parser.parse_args()
    rng = random.Random(7)
    own = math.ceil(SHINGLES * (1 - args.resemblance) / (1 + args.resemblance))
    # Where the template ends, one word of a page's own is all that tells its shingle from those of others.
    different = max(10**5, 100 * args.pages)
    common, rest = words(rng, "t", (WORDS - own) // 2), WORDS - own - (WORDS - own) // 2
    sections = [words(rng, "s", rest) for _ in range(args.nested)]
    page, group = [], []
    with open(args.out, "w", encoding="utf-8") as out:
        for number in range(args.pages):
            if page and rng.random() < args.linked:
                page = page[:-1] + words(rng, "p", 1, different)
            else:
                count = own * rng.randint(1, 4) if args.unequal else own
                if args.shared and number % args.shared == 0:
                    group = words(rng, "g", own // 2, different)
                half = group if args.shared else []
                page = rng.choice(sections) + half + words(rng, "p", count - len(half), different)
            out.write(json.dumps({"id": f"page{number}", "text": " ".join(common + page)}) + "\n")


if __name__ == "__main__":
    main()
