"""semhash: SemHash.from_records and self_deduplicate as in its README, at its own threshold: 0.9 of cosine.

Its default model, potion-base-8M, comes from a hub. The vectors of tokens that come in the package wordllama are read into the
same class of model2vec in its place: a model of the same kind and of 256 dimensions, too.
"""
import pathlib

import numpy
import wordllama
from model2vec import StaticModel
from safetensors.numpy import load_file
from semhash import SemHash
from tokenizers import Tokenizer

from texts import Peer

HOME = pathlib.Path(wordllama.__file__).parent


def model():
    (vectors,) = load_file(HOME / "weights" / "l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(HOME / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    return StaticModel(vectors=vectors.astype(numpy.float32), tokenizer=tokenizer, normalize=True)


peer = Peer()
# An empty text has no vector.
records = [{"id": row, "text": text} for row, text in enumerate(peer.texts()) if text.strip()]
result = SemHash.from_records(records=records, columns=["text"], model=model()).self_deduplicate()
peer.phase("find")
peer.end(removed=sorted(found.record["id"] for found in result.filtered))
