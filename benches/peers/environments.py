"""A virtual environment for each peer, since their requirements exclude one another, and what is installed in it."""
import json
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def environment(folder, name, python):
    """The Python of the environment of a peer; it is made if it is not there, or was made of other requirements."""
    home = pathlib.Path(folder).resolve() / name
    program, wanted = home / "bin" / "python", HERE / "requirements" / f"{name}.txt"
    alone = wanted.with_suffix(".alone.txt")
    of = python + "\n" + wanted.read_text() + (alone.read_text() if alone.exists() else "")
    stamp = home / "made-of.txt"
    if stamp.exists() and stamp.read_text() == of:
        return str(program)
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    pip = [str(program), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(wanted)], check=True)
    if alone.exists():
        subprocess.run([*pip, "--no-deps", "-r", str(alone)], check=True)
    stamp.write_text(of)
    return str(program)


def installed(python):
    """All packages of an environment with their versions."""
    command = [python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {package["name"].lower(): package["version"] for package in json.loads(done.stdout)}
