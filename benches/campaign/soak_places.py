"""Where a soak works: a disk that can be filled, and two machines of which one can go away."""

import os
import subprocess
from pathlib import Path

GIB = 1 << 30


def done(*words):
    """Whether a command of the system succeeded."""
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


class Disk:
    """A file system in a file, mounted below the state; a folder where that cannot be."""

    def __init__(self, state, gib):
        self.image, self.path = state / "disk", state / "mounted"
        self.path.mkdir(exist_ok=True)
        if not self.image.exists():
            with open(self.image, "wb") as file:
                file.truncate(gib * GIB)
            if not done("mkfs.ext4", "-q", "-m", "0", self.image):
                self.image.unlink()
        self.bounded = os.path.ismount(self.path) or done("mount", "-o", "loop", self.image, self.path)
        (self.path / "ballast").unlink(missing_ok=True)

    def free(self):
        """Bytes that can still be written."""
        told = os.statvfs(self.path)
        return told.f_bavail * told.f_frsize

    def fill(self, leave):
        """Takes all room but some."""
        size = self.free() - leave
        if size > 0:
            with open(self.path / "ballast", "wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)

    def empty(self):
        """Gives the room back."""
        (self.path / "ballast").unlink(missing_ok=True)

    def leave(self):
        """Unmounts it; the file stays, with all that is there."""
        if self.bounded:
            done("umount", self.path)


class Machines:
    """Two network namespaces with a cable; process i of a job runs in the i-th."""

    def __init__(self):
        self.names = [f"alike-soak-{os.getpid()}-{at}" for at in range(2)]
        self.there = all(done("ip", "netns", "add", name) for name in self.names)
        self.there = self.there and done(
            "ip",
            "-n",
            self.names[0],
            "link",
            "add",
            "cable",
            "type",
            "veth",
            "peer",
            "name",
            "cable",
            "netns",
            self.names[1],
        )
        for at, name in enumerate(self.names):
            done("ip", "-n", name, "addr", "add", f"10.77.0.{at + 1}/24", "dev", "cable")
            done("ip", "-n", name, "link", "set", "lo", "up")
            done("ip", "-n", name, "link", "set", "cable", "up")

    def hosts(self, path):
        """A file with the addresses of both."""
        Path(path).write_text("10.77.0.1:2101\n10.77.0.2:2101\n", encoding="ascii")

    def words(self, at):
        """What a command on a machine begins with."""
        return ["ip", "netns", "exec", self.names[at]]

    def cable(self, state):
        """Pulls the cable of the second machine, or puts it back: `down` or `up`."""
        done("ip", "-n", self.names[1], "link", "set", "cable", state)

    def leave(self):
        """Nothing of them stays."""
        for name in self.names:
            done("ip", "netns", "del", name)
