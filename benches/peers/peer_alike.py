"""alike as a module: `alike.dedup(...).pairs`, read as Arrow."""
import alike
import pyarrow

from texts import Peer

peer = Peer()
result = alike.dedup([peer.corpus], text="text", threshold=peer.threshold)
peer.phase("find")
pairs = pyarrow.table(result.pairs)
found = sorted((int(b), int(a)) for a, b in zip(pairs["a"].to_pylist(), pairs["b"].to_pylist()))
for later, earlier in found:
    peer.found(later, [earlier])
peer.end()
