"""Runs a command and measures it with all processes that it starts: seconds, seconds of processors, memory.

    measure.py LOG LIMIT COMMAND ...

prints what it took as JSON; LIMIT is 0 for none. This is a program of its own, since the peak of a process is never less than
that of the one that it was forked from, and `run.py` holds all pairs.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

POLL = 0.2


def group_memory(group):
    """The memory of all processes of a group in bytes; what several of them share is counted once (PSS).

    None is looked for where there is only one: the kernel keeps its peak.
    """
    members = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                # The name of the program, in brackets, may hold blanks; the group is the third word behind it.
                if int(file.read().rpartition(")")[2].split()[2]) == group:
                    members.append(name)
        except (OSError, ValueError):
            # It has ended meanwhile.
            continue
    total = 0
    for name in members if len(members) > 1 else []:
        try:
            with open(f"/proc/{name}/smaps_rollup", encoding="utf-8") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
        except (OSError, ValueError):
            continue
    return total


def measure(command, log, limit):
    """Runs a command, and stops it after `limit` seconds.

    The peak is that of its largest process (`ru_maxrss`), or of all together as seen five times a second, if that is more.
    """
    peak, ended = [0], threading.Event()
    with open(log, "wb") as out:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)

        def end(*_):
            # A group of its own does not end with this program.
            os.killpg(child.pid, signal.SIGKILL)
            raise SystemExit(1)

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)

        def watch():
            while not ended.wait(POLL):
                if has_proc:
                    peak[0] = max(peak[0], group_memory(child.pid))
                if limit and time.perf_counter() - began > limit:
                    os.killpg(child.pid, signal.SIGKILL)
                    return

        has_proc = os.path.exists("/proc/self/smaps_rollup")
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
    unit = 1 if sys.platform == "darwin" else 1024
    took = {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": max(peak[0], used.ru_maxrss * unit)}
    return {**took, "status": child.returncode, "stopped": bool(limit) and wall > limit}


def measured(command, log, limit=0, environment=None):
    """What a command took, or None if it was stopped; fails with the end of what it printed."""
    program = [sys.executable, __file__, str(log), str(limit), *command]
    done = subprocess.run(program, check=True, stdout=subprocess.PIPE, env=environment)
    took = json.loads(done.stdout)
    status, stopped = took.pop("status"), took.pop("stopped")
    if stopped:
        return None
    if status:
        with open(log, "rb") as file:
            sys.stderr.write(file.read()[-3000:].decode(errors="replace"))
        raise SystemExit(f"{command[0]} ended with {status}")
    return took


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[3:], sys.argv[1], float(sys.argv[2]))))
