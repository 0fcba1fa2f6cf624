#!/usr/bin/env python3
"""Runs a command once and appends what it cost to a file; for `benches/collection.sh`.

    benches/once.py COSTS COMMAND...

A line of COSTS: seconds, peak bytes of memory, bytes read from the disk, bytes written (every page that was made
dirty, also of a file that was removed before it reached the disk). The peak cannot be less than this program's own, 10
to 15 MB. Ends with the exit code of COMMAND, or the number of the signal that ended it.
"""
import os
import sys
import time


def main():
    costs, *command = sys.argv[1:]
    begin = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(child, 0)
    seconds = time.monotonic() - begin
    # Linux counts memory in KiB, and blocks of 512 bytes.
    with open(costs, "a") as lines:
        lines.write(f"{seconds:.4f} {used.ru_maxrss * 1024} {used.ru_inblock * 512} {used.ru_oublock * 512}\n")
    sys.exit(abs(os.waitstatus_to_exitcode(status)))


main()
