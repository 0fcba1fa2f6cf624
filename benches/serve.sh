#!/usr/bin/env bash
# Measures `alike serve` on one core: `POST /check` with texts of 2 kB at 1, 8 and 64 clients, who ask as fast as they are
# answered and at fixed rates; pages of clusters of a collection with a million of them; and both beside 1,000 clients that
# send a byte now and then. A section of Markdown, a row a figure. The clients have a core of their own. Needs Linux, two cores
# that are otherwise idle, Python 3.9, and below TMPDIR twice the bytes of FILE.jsonl.
#
#     benches/mixed.py DATA_FOLDER mixed.jsonl && benches/grow.py mixed.jsonl big.jsonl --times 8
#     cargo build --profile dist --features full && benches/serve.sh big.jsonl >> benches/runs/DATE-MACHINE.md
#
# The collection of 8 copies has 1.0 GB when its runs are merged. RATES="1000 2000" asks at other rates, SECONDS_EACH=3 for a
# shorter time, CLUSTERS=100000 makes fewer.
set -euo pipefail
input=$(realpath "$1")
alike=$(realpath "$(command -v "${ALIKE:-target/dist/alike}")")
cd "$(dirname "$0")/.."
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-serve.XXXXXX")
server=
trap 'if [ -n "$server" ]; then kill "$server" || true; fi; rm -rf "$tmp"' EXIT
seconds=${SECONDS_EACH:-10}

bench=${BENCH:-$(cargo bench --no-run --locked -p alike-benches --bench serve 2>&1 | sed -n 's/^ *Executable.*(\(.*\))$/\1/p')}

# start COLLECTION: serves it on one core, with all of it in the page cache.
start() {
    cat "$1"/run-* >/dev/null
    rm -f "$tmp/address"
    taskset -c 0 "$alike" serve "$1" --listen 0 -w 1 >"$tmp/address" 2>"$tmp/log" &
    server=$!
    until grep -q / "$tmp/address" 2>/dev/null; do sleep 0.1; done
    host=$(sed 's,http://\(.*\)/,\1,' "$tmp/address")
}

stop() {
    kill "$server"
    wait "$server" || true
    server=
}

# row WHAT REQUESTS CLIENTS SECONDS [RATE|html]: what the clients measured, and the CPU of the server for each answer.
row() {
    local what=$1 before after told
    shift
    before=$(cut -d' ' -f14,15 "/proc/$server/stat")
    told=$(taskset -c 1 "$bench" "$host" "$@")
    after=$(cut -d' ' -f14,15 "/proc/$server/stat")
    python3 - "$what" "$told" "$before" "$after" "$(getconf CLK_TCK)" <<'PYTHON'
import re, sys
what, told, before, after, ticks = sys.argv[1:]
rate, p50, p99, p999, count = re.search(r"(\d+) a second, p50 ([\d.]+) ms, p99 ([\d.]+) ms, p99.9 ([\d.]+) ms, (\d+)", told).groups()
cpu = (sum(map(int, after.split())) - sum(map(int, before.split()))) / int(ticks) / int(count)
print(f"| {what} | {rate} | {p50} | {p99} | {p999} | {cpu * 1e6:.0f} |")
PYTHON
}

# slow_clients: opens 1,000 connections that send a byte each few seconds, until it is killed.
slow_clients() {
    ulimit -n 4096
    exec python3 -c 'import socket, sys, time
host, port = sys.argv[1].rsplit(":", 1)
head = b"POST /check HTTP/1.1\r\nHost: " + sys.argv[1].encode() + b"\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n"
clients = [None] * 1000
while True:
    for at, client in enumerate(clients):
        try:
            if client is None:
                clients[at] = client = socket.create_connection((host, int(port)), timeout=5)
                client.sendall(head)
            client.sendall(b" ")
        except OSError:
            clients[at] = None
    time.sleep(2)' "$host"
}

echo "## alike serve, $(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), one core"
echo
"$alike" load "$tmp/c" "$input" -q
"$alike" compact "$tmp/c" -q
"$alike" compact "$tmp/c" -q
echo "\`benches/serve.sh\`: $(du -sm "$tmp/c" | cut -f1) MB of a collection of $(stat -c %s "$input" | awk '{printf "%.1f", $1 / 1e9}') GB of input."
echo
echo "| what | a second | p50 ms | p99 ms | p99.9 ms | CPU us |"
echo "|---|--:|--:|--:|--:|--:|"
start "$tmp/c"
taskset -c 1 "$bench" "$host" "$input" 8 "$seconds" >/dev/null
for clients in 1 8 64; do row "\`POST /check\`, $clients clients" "$input" "$clients" "$seconds"; done
for rate in ${RATES:-1000 2500 5000}; do
    row "\`POST /check\`, 64 clients, $rate a second asked" "$input" 64 "$seconds" "$rate"
done
slow_clients &
slow=$!
sleep 10
row "\`POST /check\`, 8 clients, beside 1,000 slow ones" "$input" 8 "$seconds"
kill "$slow"
wait "$slow" 2>/dev/null || true
stop
rm -rf "$tmp/c"
python3 -c 'import json, sys
for at in range(2 * int(sys.argv[1])):
    print(json.dumps({"id": f"d{at}", "text": f"the text of number {at // 2} of {at // 2 * 7919} and more words"}))' \
    "${CLUSTERS:-1000000}" >"$tmp/pairs.jsonl"
"$alike" load "$tmp/many" "$tmp/pairs.jsonl" -q --method exact
rm "$tmp/pairs.jsonl"
start "$tmp/many"
row "page of clusters, JSON" "/clusters?limit=100" 8 "$seconds"
row "page of clusters, HTML" "/clusters?limit=100" 8 "$seconds" html
row "page of clusters, HTML, one client" "/clusters?limit=100" 1 "$seconds" html
row "the newest clusters, HTML, one client" "/clusters?limit=100&sort=newest" 1 "$seconds" html
stop
