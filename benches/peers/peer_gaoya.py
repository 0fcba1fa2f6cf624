"""gaoya: MinHashStringIndex with the bands and the runs of 3 and 4 characters of its example, or with our shingles.

Its index compares the sketches of what its bands find, and returns those above the threshold.
"""
import gaoya

from texts import Peer, shingles

peer = Peer()
texts = peer.texts()
settings = {"hash_size": 32, "jaccard_threshold": peer.threshold, "num_bands": 50, "band_size": 4}
rows = list(range(len(texts)))
if peer.recipe == "shingles":
    rows, tokens = [], []
    for row, text in enumerate(texts):
        found = shingles(text)
        # Without a token there is no sketch to compare.
        if found:
            rows.append(row)
            tokens.append(list(found))
    peer.phase("prepare")
    index = gaoya.minhash.MinHashStringIndex(**settings, analyzer=lambda found: found)
    texts = tokens
else:
    index = gaoya.minhash.MinHashStringIndex(**settings, analyzer="char", ngram_range=(3, 4))
index.par_bulk_insert_docs(rows, texts)
# In parts, so that the answers of all texts need not be in memory at once.
for first in range(0, len(rows), 1000):
    answers = index.par_bulk_query(texts[first : first + 1000])
    for row, candidates in zip(rows[first:], answers):
        peer.found(row, candidates)
peer.phase("find")
peer.end()
