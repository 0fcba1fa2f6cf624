"""FastSketchLSH: the end-to-end sample of its README: sketches of 128, 16 bands. The threshold follows from the bands.

The README flags documents that have a partner; here the index is asked for the candidates, which say which partner.
"""
from FastSketchLSH import LSH, FastSimilaritySketch

from texts import Peer, shingles


def tokens_of(text):
    return sorted(shingles(text)) if peer.recipe == "shingles" else sorted(set(text.lower().split()))


peer = Peer()
texts = peer.texts()
sketcher, lsh = FastSimilaritySketch(size=128, seed=42), LSH(num_perm=128, num_bands=16)
# The README takes all texts at once; parts hold the tokens of fewer.
size = 1000 if peer.recipe == "shingles" else max(1, len(texts))
rows, sketches = [], []
for first in range(0, len(texts), size):
    part = [(row, tokens_of(texts[row])) for row in range(first, min(first + size, len(texts)))]
    # A text without a token is refused.
    part = [(row, tokens) for row, tokens in part if tokens]
    peer.phase("prepare")
    if part:
        rows += [row for row, _ in part]
        sketches.append(sketcher.batch([tokens for _, tokens in part]))
        lsh.insert(sketches[-1])
    peer.phase("find")
at = 0
for matrix in sketches:
    for first in range(0, len(matrix), 1000):
        flat, ends = lsh.query(matrix[first : first + 1000], format="csr")
        flat, ends = flat.tolist(), ends.tolist()
        for begin, end in zip(ends, ends[1:]):
            peer.found(rows[at], [rows[other] for other in flat[begin:end]])
            at += 1
peer.phase("find")
peer.end()
