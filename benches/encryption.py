#!/usr/bin/env python3
"""What the encryption of connections costs: a command in two processes of this machine, in turns without and with it.

    benches/encryption.py ALIKE IN.jsonl [TIMES]

Prints, for `dedup` and for `load`, the least seconds and CPU seconds of each, and ends with 1 if encryption costs more than
10 % of the time.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST = 1.10


def cost(alike, line, encryption, folder):
    """Seconds and CPU seconds of a command in two processes of one worker each."""
    shutil.rmtree(folder / "c", ignore_errors=True)
    words = [alike, "launch", "-n", "2", "--", *line, "-w", "1", "-q", "--encryption", encryption]
    before, begun = os.times(), time.monotonic()
    subprocess.run(words, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    seconds, after = time.monotonic() - begun, os.times()
    return seconds, sum(after[2:4]) - sum(before[2:4])


def main():
    alike, records = (str(Path(name).resolve()) for name in sys.argv[1:3])
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    dear = False
    with tempfile.TemporaryDirectory() as name:
        for line in (["dedup", records, "--dry-run"], ["load", "c", records]):
            found = {"off": [], "on": []}
            for _ in range(times):
                for encryption, costs in found.items():
                    costs.append(cost(alike, line, encryption, Path(name)))
            off, on = ([min(costs) for costs in zip(*of)] for of in found.values())
            ratio = on[0] / off[0]
            print(
                f"{line[0]:<6} off {off[0]:.2f} s ({off[1]:.2f} s of CPU), on {on[0]:.2f} s ({on[1]:.2f} s of CPU):"
                f" {ratio:.3f} of the time, {on[1] / off[1]:.3f} of the CPU",
                flush=True,
            )
            dear |= ratio > MOST
    return int(dear)


if __name__ == "__main__":
    sys.exit(main())
