#!/usr/bin/env python3
"""Reads from, and writes to, a server that speaks S3, and compares with folders of this machine.

    benches/stores.py PROGRAM FILE

The server is that of the Python package moto (`pip install "moto[server]"`), which has `moto_server` and boto3. Prints the seconds of a
run from file to folder and from store to store, and how many bytes were fetched for each that the store has. Ends with 1 if the
outputs differ."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import boto3

BUCKET = "bench"
# What a run says of its time and its machine.
OF_THE_RUN = {
    "run", "seconds", "stages", "documents_per_second", "megabytes_per_second", "peak_memory_bytes", "memory_limit_bytes",
    "workers", "fetched", "candidates", "verified",
}  # fmt: skip


def serve(folder):
    """A server of an empty bucket: its process, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    log = open(folder / "server.log", "wb")
    server = subprocess.Popen(["moto_server", "-p", str(port)], stdout=log, stderr=log)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, f"http://127.0.0.1:{port}"
        except OSError:
            time.sleep(0.1)
    sys.exit("moto_server does not answer")


def run(program, words, folder, variables):
    """Runs the program: its seconds."""
    begun = time.monotonic()
    ran = subprocess.run([program, *words], cwd=folder, env=os.environ | variables, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {ran.returncode}: {ran.stderr}")
    return time.monotonic() - begun


def comparable(name, content, place):
    """What has to be the same: of lists without where inputs are, of the summary without the machine."""
    if name == "summary.json":
        told = json.loads(content.decode().replace(place, ""))
        return {key: value for key, value in told.items() if key not in OF_THE_RUN}
    if "/" not in name:
        return sorted(content.decode().replace(place, "").splitlines())
    return content


def main():
    program, file = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, address = serve(folder)
        try:
            who = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "something"}
            store = boto3.client(
                "s3", endpoint_url=address, region_name="us-east-1",
                aws_access_key_id="somebody", aws_secret_access_key="something",
            )  # fmt: skip
            store.create_bucket(Bucket=BUCKET)
            store.upload_file(str(file), BUCKET, f"in/{file.name}")
            (folder / "in").mkdir()
            (folder / "in" / file.name).symlink_to(file)
            variables = who | {"AWS_ENDPOINT_URL": address}
            local = run(program, ["dedup", f"in/{file.name}", "--out", "out", "-q"], folder, {})
            url = f"s3://{BUCKET}/in/{file.name}"
            remote = run(program, ["dedup", url, "--out", f"s3://{BUCKET}/out", "-q"], folder, variables)
            found, fetched = {}, None
            for page in store.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="out/"):
                for one in page["Contents"]:
                    body = store.get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read()
                    found[one["Key"].removeprefix("out/")] = body
            fetched = json.loads(found["summary.json"])["fetched"]
            wanted = {
                str(path.relative_to(folder / "out")): path.read_bytes()
                for path in (folder / "out").rglob("*") if path.is_file()
            }  # fmt: skip
            differ = sorted(set(found) ^ set(wanted)) + [
                name for name in sorted(set(found) & set(wanted))
                if comparable(name, found[name], f"s3://{BUCKET}/") != comparable(name, wanted[name], "\0")
            ]  # fmt: skip
            size = file.stat().st_size
            print(f"file to folder   {local:6.2f} s")
            print(f"store to store   {remote:6.2f} s, {fetched['requests']} requests, {fetched['bytes'] / size:.3f} bytes fetched a byte")
            print(f"{len(wanted)} files, {len(differ)} differ: {differ}")
            sys.exit(int(bool(differ)))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
