#!/usr/bin/env python3
"""Makes the pictures of the gallery, and its report of the sample: run it when pages or reports look different.

    docs/pictures.py PROGRAM [--chromium /usr/bin/chromium]

PROGRAM is built with `--features full`. Needs Chromium, and nothing else. The report is text, and a test compares it with what the program
writes; pictures are looked at by people.
"""
import argparse
import json
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "src" / "gallery"
SAMPLE = "samples/licences.jsonl"
# The command that the report of the gallery repeats, as the page and the test have it.
REPORT = ["dedup", SAMPLE, "--dry-run", "-q", "--report-from", "0.6", "--kinds", "--report-by", "source", "--report"]


class Browser:
    """Chromium without a window, and without a network."""

    def __init__(self, program, profile):
        self.words = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
        ]  # fmt: skip

    def shoot(self, address, name, height, width=1100):
        """A picture of the page at an address."""
        size, shot = f"--window-size={width},{height}", f"--screenshot={GALLERY / name}"
        subprocess.run([*self.words, size, shot, address], check=True, stderr=subprocess.DEVNULL)
        print(f"{name}: {(GALLERY / name).stat().st_size / 1000:.0f} kB")


def pages(program, folder, browser):
    """Pages of an output of the sample."""
    out = Path(folder) / "clean"
    subprocess.run([program, "dedup", SAMPLE, "--out", out, "-q"], cwd=ROOT, check=True)
    server = subprocess.Popen([program, "serve", out, "--listen", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        browser.shoot(f"{address}clusters", "clusters.png", 640)
        member = loosest(address)
        browser.shoot(member, "member.png", 1000)
        browser.shoot(member, "narrow.png", 800, 400)
    finally:
        server.terminate()
        server.wait()


def asked(address):
    """The JSON at an address."""
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)


def loosest(address):
    """The page of the second cluster by looseness, at the member that has least in common with what is kept: there words differ."""
    cluster = asked(f"{address}clusters?sort=looseness&limit=2")["clusters"][1]["cluster"]
    members = asked(f"{address}clusters/{cluster}")["members"]
    least = min(members, key=lambda member: member.get("scores", {}).get("resemblance", 1))
    place = urllib.parse.quote(f"{least['file']}:{least['line']}", safe="")
    return f"{address}clusters/{cluster}?member={place}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    program = options.program.resolve()
    GALLERY.mkdir(exist_ok=True)
    report = GALLERY / "licences.html"
    with tempfile.TemporaryDirectory() as folder:
        # Named as a reader would name them, since the page repeats the command.
        (Path(folder) / "samples").symlink_to(ROOT / "samples")
        subprocess.run([program, *REPORT, "look.html"], cwd=folder, check=True)
        shutil.move(Path(folder) / "look.html", report)
        browser = Browser(options.chromium, f"{folder}/profile")
        browser.shoot(report.as_uri(), "report.png", 1180)
        pages(program, folder, browser)


if __name__ == "__main__":
    main()
