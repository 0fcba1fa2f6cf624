"""alike as a module: a table of Arrow in, tables of pairs and of removed rows out."""
import alike
import pyarrow

from texts import Peer

peer = Peer()
table = pyarrow.table({"text": peer.texts()})
result = alike.dedup(table, text="text", threshold=peer.threshold, pairs=True)
pairs = pyarrow.table(result.pairs)
removed = pyarrow.table(result.removed)
peer.phase("find")
# Rows of a table without ids are known by their numbers.
found = sorted((int(b), int(a)) for a, b in zip(pairs["a"].to_pylist(), pairs["b"].to_pylist()))
for later, earlier in found:
    peer.found(later, [earlier])
peer.end(removed=[int(row) for row in removed["id"].to_pylist()])
