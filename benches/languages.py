#!/usr/bin/env python3
"""Says by script how many near-copies `alike` finds at 0.8, and how many unrelated pairs, with and without folding:

    benches/languages.py PROGRAM FILE.jsonl [FOLDER]

FILE has a text in the field `text` of each record, in many languages; FOLDER has source code (default: src). Each text that
is long enough gets three near-copies: one of its sentences (a twentieth of it at most) is replaced by one of another text of
the script, dropped, or added. It also gets copies of which all words are spelt otherwise, as the script has other spellings.
Texts that are near another text of FILE before folding are left out, so each pair of different texts is unrelated. Those
that are near another text by folding alone are listed, to be looked at, and left out, too. Prints two tables in Markdown.
"""
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

# Texts of a script that are taken at most, and the characters that one has at least: fewer where each is a word.
MOST, LEAST, LEAST_DENSE = 50, 1200, 400
DENSE = {"CJK", "JAPANESE", "THAI", "LAO", "KHMER", "MYANMAR", "YI"}
FOLDS = ["none", "forms", "marks,digits,letters"]
ENDS = re.compile(r"(?<=[.!?\u3002\uff01\uff1f\u061f\u06d4\u0964\u0965\u0589\u1362\u104b\u17d4])\s*|\n+")
KANA = {"HIRAGANA", "KATAKANA"}


def script(text):
    """The script of most letters, by their names in Unicode."""
    names = collections.Counter(unicodedata.name(c, "?").split(" ")[0] for c in text if c.isalpha())
    if not names:
        return None
    if sum(names[kana] for kana in KANA) * 10 > names.total():
        return "JAPANESE"
    (name, count), = names.most_common(1)
    return name if count * 3 > names.total() * 2 else None


def sentences(text):
    """The pieces of a text, which together are the whole; of scripts without full stops at blanks."""
    pieces, start = [], 0
    for end in ENDS.finditer(text):
        pieces.append(text[start:end.end()])
        start = end.end()
    pieces.append(text[start:])
    if len(pieces) < 20:
        pieces = re.findall(r"\S+\s*", text)
    return pieces


def edited(text, others):
    """Three near-copies; None if the sentences are too long."""
    pieces = sentences(text)
    fits = [n for n, piece in enumerate(pieces) if 3 < len(piece.strip()) <= len(text) / 20]
    others = others or ["".join(reversed(re.findall(r"\S+\s*", text)))]
    foreign = [piece for other in others for piece in sentences(other) if 3 < len(piece.strip()) <= len(text) / 20]
    if not fits or not foreign:
        return None
    changed, dropped, added = (list(pieces) for _ in range(3))
    changed[random.choice(fits)] = random.choice(foreign)
    del dropped[random.choice(fits)]
    added.insert(random.choice(fits), random.choice(foreign))
    return {name: "".join(copy) for name, copy in zip(["changed", "dropped", "added"], [changed, dropped, added])}


def forms(kind):
    """From characters to those that are forms of one kind of them."""
    found = {}
    for code in range(0x80, 0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0] in kind:
            found.setdefault(chr(int(parts[1], 16)), chr(code))
    return found


def swap(table):
    return lambda text: "".join(table.get(c, c) for c in text)


def after(letters, mark):
    return lambda text: re.sub(f"([{letters}])", rf"\1{mark}", text)


def halfwidth(text):
    """Half-width katakana, voiced ones in two parts."""
    narrow = forms({"<narrow>"})
    apart = "".join(unicodedata.normalize("NFD", c) if "\u30a0" <= c <= "\u30ff" else c for c in text)
    marks = {"\u3099": "\uff9e", "\u309a": "\uff9f"}
    return "".join(marks.get(c) or narrow.get(c, c) for c in apart)


def unaccented(text):
    """Without combining marks, but those of letters of their own."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))


def digits(zero):
    return lambda text: text.translate({ord("0") + n: chr(ord(zero) + n) for n in range(10)})


# What each script is also spelt as.
SPELLINGS = {
    "LATIN": {"full-width": swap(forms({"<wide>"})), "without accents": unaccented,
              "dotless i": lambda text: text.replace("I", "\u0130").replace("i", "\u0131")},
    "source code": {"full-width": swap(forms({"<wide>"}))},
    "GREEK": {"without accents": unaccented},
    "CYRILLIC": {"without io": lambda text: text.replace("\u0451", "\u0435").replace("\u0401", "\u0415")},
    "JAPANESE": {"half-width katakana": halfwidth, "full-width Latin": swap(forms({"<wide>"}))},
    "CJK": {"full-width Latin": swap(forms({"<wide>"})), "radicals": swap(forms({"<compat>"}))},
    "ARABIC": {"presentation forms": swap(forms({"<isolated>", "<initial>", "<medial>", "<final>"})),
               "tatweel": after("\u0628-\u063a\u0641-\u064a", "\u0640"), "vocalised": after("\u0627-\u064a", "\u064e"),
               "other yeh and kaf": lambda text: text.translate({0x64a: 0x6cc, 0x6cc: 0x64a, 0x643: 0x6a9, 0x6a9: 0x643}),
               "without hamza on alef": lambda text: re.sub("[\u0622\u0623\u0625]", "\u0627", text),
               "blanks for ZWNJ": lambda text: text.replace("\u200c", " "), "other digits": digits("\u0660")},
    "HEBREW": {"niqqud": after("\u05d0-\u05ea", "\u05b8")},
    "THAI": {"sara am in parts": lambda text: text.replace("\u0e33", "\u0e4d\u0e32"), "other digits": digits("\u0e50")},
    "DEVANAGARI": {"other digits": digits("\u0966")},
    "KHMER": {"other digits": digits("\u17e0")},
}


def texts(file, folder):
    """Texts by script."""
    found = collections.defaultdict(list)
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            found[script(text)].append((json.loads(line)["id"], text))
    for path in sorted(pathlib.Path(folder).rglob("*.rs")):
        found["source code"].append((str(path), path.read_text(encoding="utf-8")))
    del found[None]
    return found


def pairs(program, documents, fold):
    """The pairs that a run finds."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder, "in.jsonl"), pathlib.Path(folder, "out")
        with open(file, "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"id": name, "text": text}) + "\n" for name, text in documents.items())
        subprocess.run([program, "dedup", file, "--out", out, "--pairs", "--clustering", "transitive", "--quiet",
                        "--fold", fold], check=True)
        with open(out / "pairs.jsonl", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return {frozenset((row["a"], row["b"])) for row in rows}


def main():
    program, file = sys.argv[1:3]
    random.seed(7)
    scripts = texts(file, sys.argv[3] if len(sys.argv) > 3 else "src")
    least = lambda name: LEAST_DENSE if name in DENSE else LEAST
    originals = {f"{name}|{own}": text for name, some in scripts.items() for own, text in some if len(text) >= least(name)}
    near = {name for pair in pairs(program, originals, "none") for name in pair}
    by_folding = [sorted(pair) for pair in pairs(program, originals, FOLDS[-1]) if not pair & near]
    for pair in sorted(by_folding):
        print("near by folding alone:", *pair, file=sys.stderr)
    near.update(name for pair in by_folding for name in pair)
    documents, copies = {}, collections.defaultdict(list)
    for name, some in scripts.items():
        ids = [own for own in (f"{name}|{own}" for own, _ in some) if own in originals and own not in near]
        for own in random.sample(ids, min(MOST, len(ids))):
            text = originals[own]
            new = edited(text, [originals[other] for other in random.sample(ids, min(5, len(ids))) if other != own])
            if new is None:
                continue
            documents[own] = text
            respelt = {kind: spell(text) for kind, spell in SPELLINGS.get(name, {}).items()}
            # What hardly changes a text says nothing: every tenth word at least is another one.
            words = lambda of: of.split() if " " in of else list(of)
            other = {kind: copy for kind, copy in respelt.items()
                     if sum(a != b for a, b in zip(words(text), words(copy))) * 10 > len(words(text))
                     or len(words(copy)) * 10 > len(words(text)) * 11}
            for kind, copy in (new | other).items():
                documents[f"{own}|{kind}"] = copy
                copies[name, kind].append(own)
    found = {fold: pairs(program, documents, fold) for fold in FOLDS}
    table(copies, found)


def table(copies, found):
    base = lambda name: tuple(name.split("|")[:2])
    unrelated = {fold: collections.Counter(script for pair in found[fold] for script in {base(name)[0] for name in pair}
                                           if len({base(name) for name in pair}) > 1) for fold in FOLDS}
    hits = lambda name, kind, fold: sum(frozenset((own, f"{own}|{kind}")) in found[fold] for own in copies[name, kind])
    print("| script | texts | near-copies | found: none | forms | all | unrelated pairs: none | forms | all |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    sizes = {name: len(copies[name, "changed"]) for name, kind in copies if kind == "changed"}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        each = [sum(hits(name, kind, fold) for kind in ("changed", "dropped", "added")) for fold in FOLDS]
        cells = [name, sizes[name], 3 * sizes[name], *each, *(unrelated[fold][name] for fold in FOLDS)]
        print("| " + " | ".join(map(str, cells)) + " |")
    print("\n| script | spelling | texts | found: none | forms | all |\n|---|---|---:|---:|---:|---:|")
    for name, kind in sorted(key for key in copies if key[1] not in ("changed", "dropped", "added")):
        cells = [name, kind, len(copies[name, kind]), *(hits(name, kind, fold) for fold in FOLDS)]
        print("| " + " | ".join(map(str, cells)) + " |")


main()
