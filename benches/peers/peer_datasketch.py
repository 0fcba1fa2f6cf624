"""datasketch: MinHash of 128 permutations, then MinHashLSH, as its documentation has it. Pairs are what its index returns."""
from datasketch import MinHash, MinHashLSH

from texts import Peer, shingles

peer = Peer()
texts = peer.texts()
lsh = MinHashLSH(threshold=peer.threshold, num_perm=128)
sketches = []
for row, text in enumerate(texts):
    # The documentation makes sets of words; shingles are its user's affair.
    tokens = shingles(text) if peer.recipe == "shingles" else set(text.split())
    tokens = [token.encode("utf8") for token in tokens]
    peer.phase("prepare")
    if not tokens:
        # Texts without a word have one sketch, and would all be pairs.
        sketches.append(None)
        continue
    sketch = MinHash(num_perm=128)
    sketch.update_batch(tokens)
    lsh.insert(row, sketch)
    sketches.append(sketch)
    peer.phase("find")
for row, sketch in enumerate(sketches):
    if sketch is not None:
        peer.found(row, lsh.query(sketch))
peer.phase("find")
peer.end()
