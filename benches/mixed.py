#!/usr/bin/env python3
"""Writes one JSONL file of mixed English text from packed corpora: licences, statutes, and versions of proposals.

    benches/mixed.py DATA_FOLDER OUT.jsonl

DATA_FOLDER holds `licence_texts.jsonl.zst`, `civil_codes.jsonl.zst` (records) and `peps.events.jsonl.zst`,
`rust_rfcs.events.jsonl.zst` (histories; of the first every second version is taken). Needs the zstd command.
"""
import json
import subprocess
import sys


def records(folder, name):
    command = ["zstd", "-dc", "--long=27", f"{folder}/{name}.jsonl.zst"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as unpack:
        for line in unpack.stdout:
            yield json.loads(line)


def main():
    folder, path = sys.argv[1:]
    with open(path, "w", encoding="utf-8") as out:
        def emit(name, text):
            out.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")

        for name in ("licence_texts", "civil_codes"):
            for record in records(folder, name):
                emit(record["id"], record["text"])
        for name, every in (("peps.events", 2), ("rust_rfcs.events", 1)):
            for number, event in enumerate(records(folder, name), 1):
                if event.get("text") and number % every == 0:
                    emit(f"{event['doc']}@{event['seq']}", event["text"])


main()
