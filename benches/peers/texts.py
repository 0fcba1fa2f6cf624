"""The corpus as every peer reads it, our words and shingles in Python, and what a peer answers.

A peer is a program `peer_NAME.py CORPUS FOLDER THRESHOLD RECIPE`. It reads `{"id": ROW, "text": TEXT}` a line, and writes into
FOLDER what it found: `pairs.bin` (two rows a pair, the earlier first, in order of the later), `removed.bin` or `flagged.bin`
(rows), and `phases.json`.
"""
import array
import json
import pathlib
import re
import sys
import time
import unicodedata

NGRAM = 5
ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
# What Unicode says to ignore: soft hyphens, joiners, marks of direction, variation selectors.
IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u0640]"
)
# Signs of trade marks stay symbols, and a fraction is parted from the number before it.
SIGNS = re.compile("[\u2120\u2122\U0001f16a-\U0001f16c]")
FRACTIONS = re.compile("([\u00bc-\u00be\u2150-\u215f\u2189])")
APOSTROPHES = re.compile("[\u2019\u02bc\uff07]")
LONE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua9e0-\ua9ff\uaa60-\uaadf"
    "\uf900-\ufaff\uff66-\uff9f\U00011700-\U0001174f\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff\U00020000-\U0003fffd]"
)


def words(text):
    """The words of a text as docs/src/reference/text.md tells them: folded, without punctuation."""
    if text.isascii():
        return ASCII_WORD.findall(text.lower())
    text = FRACTIONS.sub(r" \1", SIGNS.sub(" ", IGNORED.sub("", text)))
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    text = APOSTROPHES.sub("'", unicodedata.normalize("NFC", IGNORED.sub("", text)))
    if text.isascii():
        return ASCII_WORD.findall(text)
    found, word, mark_fits = [], "", False
    for at, character in enumerate(text):
        if unicodedata.category(character)[0] == "M":
            # A mark belongs to the word before it, and is none by itself.
            if word:
                word += character
            elif mark_fits:
                found[-1] += character
            continue
        mark_fits = False
        if character == "'" and word and joins(text, at):
            word += character
        elif character.isalnum() and not (LONE.match(character) and character.isalpha()):
            word += character
        else:
            if word:
                found.append(word)
                word = ""
            if character.isalpha():
                found.append(character)
                mark_fits = True
    return found + [word] if word else found


def joins(text, at):
    """Whether the apostrophe at a place stands between two characters of a word."""
    after = text[at + 1 : at + 2]
    return after.isalnum() and not (LONE.match(after) and after.isalpha())


def shingles(text):
    """The shingles of a text: all runs of five words, a shorter text as a whole, none without a word."""
    found = words(text)
    if len(found) <= NGRAM:
        return {" ".join(found)} if found else set()
    return {" ".join(found[at : at + NGRAM]) for at in range(len(found) - NGRAM + 1)}


def read(corpus):
    """The texts of a corpus; the place in the list is the row."""
    with open(corpus, encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


class Peer:
    """The arguments of a peer, the time of its phases, and its answer."""

    def __init__(self):
        self.corpus, folder, threshold, self.recipe = sys.argv[1:5]
        self.folder, self.threshold = pathlib.Path(folder), float(threshold)
        self.phases, self.pairs, self.rows = {}, array.array("I"), {}
        self.began = time.perf_counter()

    def texts(self):
        found = read(self.corpus)
        self.phase("read")
        return found

    def phase(self, name):
        """Ends a phase: `read`, `prepare` (text to tokens, in Python), `find` (what the library does)."""
        now = time.perf_counter()
        self.phases[name] = self.phases.get(name, 0) + now - self.began
        self.began = now

    def found(self, row, candidates):
        """Takes the candidates of a row; they are counted once, with the later of the two."""
        for other in candidates:
            if other < row:
                self.pairs.append(other)
                self.pairs.append(row)

    def end(self, **rows):
        """Writes pairs, if there is no word of other rows, or rows by name: `removed` or `flagged`."""
        if not rows or self.pairs:
            rows["pairs"] = self.pairs
        for name, values in rows.items():
            with open(self.folder / f"{name}.bin", "wb") as file:
                array.array("I", values).tofile(file)
        self.phase("write")
        (self.folder / "phases.json").write_text(json.dumps(self.phases))
