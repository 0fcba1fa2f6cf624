"""rensa: three ways that its README and its benchmark have.

- `own`: `RMinHashDeduplicator` of words, the README's way to keep unique documents.
- `rho`: the batch pipeline of its own benchmark: 3-grams of words, 8 bands, and a flag for each document that has a partner.
- `shingles`: sketches, `RMinHashLSH` with 16 bands, and pairs whose estimate is at least the threshold.
"""
from rensa import RMinHash, RMinHashDeduplicator, RMinHashLSH

from texts import Peer, shingles

NGRAM = 3


def grams(text):
    words = text.lower().split()
    if len(words) < NGRAM:
        return words
    return [" ".join(words[at : at + NGRAM]) for at in range(len(words) - NGRAM + 1)]


def own(peer, texts):
    dedup = RMinHashDeduplicator(threshold=peer.threshold, num_perm=128, use_lsh=True)
    kept = dedup.add_pairs((str(row), text.split()) for row, text in enumerate(texts))
    peer.phase("find")
    peer.end(removed=[row for row, is_kept in enumerate(kept) if not is_kept])


def rho(peer, texts):
    tokens = [grams(text) for text in texts]
    peer.phase("prepare")
    matrix = RMinHash.digest_matrix_from_token_sets_rho(tokens, num_perm=128, seed=42, probes=4)
    lsh = RMinHashLSH(threshold=peer.threshold, num_perm=128, num_bands=8)
    flags = lsh.query_duplicate_flags_matrix_one_shot(matrix)
    peer.phase("find")
    peer.end(flagged=[row for row, flag in enumerate(flags) if flag and tokens[row]])


def of_shingles(peer, texts):
    lsh = RMinHashLSH(threshold=peer.threshold, num_perm=128, num_bands=16)
    sketches = []
    # In parts, so that the tokens of all texts need not be in memory at once.
    for first in range(0, len(texts), 1000):
        tokens = [shingles(text) for text in texts[first : first + 1000]]
        peer.phase("prepare")
        sketches += [
            sketch if some else None
            for sketch, some in zip(RMinHash.from_token_sets(tokens, num_perm=128, seed=42), tokens)
        ]
        peer.phase("find")
    lsh.insert_pairs([(row, sketch) for row, sketch in enumerate(sketches) if sketch])
    for row, sketch in enumerate(sketches):
        if sketch:
            candidates = [other for other in lsh.query(sketch) if other < row]
            peer.found(row, [other for other in candidates if lsh.is_similar(sketch, sketches[other])])
    peer.phase("find")
    peer.end()


peer = Peer()
{"own": own, "rho": rho, "shingles": of_shingles}[peer.recipe](peer, peer.texts())
