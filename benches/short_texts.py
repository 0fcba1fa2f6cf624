#!/usr/bin/env python3
"""Writes N texts of eight words each, of which no two have five words in a row in common: what many short documents cost.

    benches/short_texts.py N OUT.jsonl
    alike dedup OUT.jsonl --dry-run -w 2 --memory 8G
"""
import argparse

# Odd, so that no two products are the same below 2^32.
SPREAD = 0x9E3779B1
MASK = 2**32 - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("texts", type=int, metavar="N", help="at most 2^29")
    parser.add_argument("out", metavar="OUT.jsonl")
    args = parser.parse_args()
    if args.texts > 2**29:
        parser.error("at most 2^29 texts have words of their own")
    with open(args.out, "w", encoding="utf-8") as out:
        for text in range(args.texts):
            first = text * 8
            words = " ".join([f"{number * SPREAD & MASK:x}" for number in range(first, first + 8)])
            out.write(f'{{"id":"{text}","text":"{words}"}}\n')


if __name__ == "__main__":
    main()
