"""text-dedup: its program `text_dedup.minhash` with its defaults (250 permutations, 5-grams) and the threshold of the run.

It writes the documents that it keeps, and no pairs. Documents of fewer than 5 tokens it leaves out.
"""
import os
import subprocess
import sys

from texts import Peer

peer = Peer()
folder = peer.folder
command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", peer.corpus, "--split", "train"]
command += ["--cache_dir", str(folder / "cache"), "--output", str(folder / "kept"), "--column", "text"]
command += ["--batch_size", "10000", "--threshold", str(peer.threshold)]
environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "cache"), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
subprocess.run(command, check=True, env=environment)
peer.phase("find")

import datasets  # noqa: E402 - it is slow to load, which is no part of what is timed.

kept = set(datasets.load_from_disk(str(folder / "kept"))["id"])
with open(peer.corpus, "rb") as lines:
    count = sum(1 for _ in lines)
peer.phase("read")
peer.end(removed=[row for row in range(count) if row not in kept])
