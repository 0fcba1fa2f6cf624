#!/usr/bin/env python3
"""Runs the processes of a job, all on this machine, and prints what they cost together; for `benches/processes.sh`.

    benches/together.py PROCESSES COMMAND...

The line: seconds from the start of the first to the end of the last, seconds of CPU of all, those in the program itself
of all, and for each process the most bytes of memory that it held. What they say goes nowhere but for errors. Ends with
the greatest exit code.
"""
import os
import socket
import subprocess
import sys
import time


def free(count):
    """Addresses that nobody listens on now."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ",".join(f"127.0.0.1:{port}" for port in ports)


def main():
    count, command = int(sys.argv[1]), sys.argv[2:]
    of_all = dict(os.environ)
    if count > 1:
        of_all.update(ALIKE_ADDRESSES=free(count), ALIKE_SECRET=os.urandom(16).hex())
    begin = time.monotonic()
    children = []
    for index in range(count):
        own = dict(of_all, ALIKE_PROCESS=str(index)) if count > 1 else of_all
        child = subprocess.Popen(command, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        children.append(child.pid)
    used, codes = {}, []
    for _ in children:
        pid, status, usage = os.wait4(-1, 0)
        used[pid] = usage
        codes.append(abs(os.waitstatus_to_exitcode(status)))
    seconds = time.monotonic() - begin
    user = sum(usage.ru_utime for usage in used.values())
    cpu = user + sum(usage.ru_stime for usage in used.values())
    # Linux counts memory in KiB.
    peaks = " ".join(str(used[pid].ru_maxrss * 1024) for pid in children)
    print(f"{seconds:.4f} {cpu:.3f} {user:.3f} {peaks}")
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
