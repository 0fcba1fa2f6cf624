"""semhash: SemHash.from_records and self_deduplicate as in its README, at its own threshold: 0.9 of cosine.

Its default model comes from a hub. The vectors of wordllama come in its package, and are of the same kind: one for each token,
averaged. So this runs without a hub.
"""
import pathlib

import wordllama
from semhash import SemHash

from texts import Peer


class Encoder:
    def __init__(self):
        home = pathlib.Path(wordllama.__file__).parent
        self.model = wordllama.WordLlama.load(cache_dir=home, disable_download=True)

    def encode(self, inputs, **_):
        return self.model.embed(list(inputs))


peer = Peer()
# An empty text has no vector.
records = [{"id": row, "text": text} for row, text in enumerate(peer.texts()) if text.strip()]
result = SemHash.from_records(records=records, columns=["text"], model=Encoder()).self_deduplicate()
peer.phase("find")
peer.end(removed=sorted(found.record["id"] for found in result.filtered))
