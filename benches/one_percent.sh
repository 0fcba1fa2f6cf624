#!/usr/bin/env bash
# Loads 99 % of each file into a collection, then the other 1 %, every hundredth line, and deletes that again: a table in Markdown of
# seconds and seconds of CPU, two workers. Records need ids that are unique. Needs GNU time, and room for a collection below TMPDIR.
#
#     cargo build --profile dist && benches/one_percent.sh target/dist/alike FILE.jsonl...
set -euo pipefail
alike=$(command -v "$1")
shift
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# took COMMAND...: seconds and seconds of CPU of one run, as cells of a row.
took() {
    /usr/bin/time -o "$tmp/time" -f "%e %U %S" "$@" >/dev/null
    awk '{ printf " %.2f | %.2f |", $1, $2 + $3 }' "$tmp/time"
}

echo "| file | 99 %, s | CPU | 1 %, s | CPU | deleted, s | CPU |"
echo "|---|---:|---:|---:|---:|---:|---:|"
for file in "$@"; do
    rm -rf "$tmp/c"
    awk 'NR % 100' "$file" >"$tmp/most.jsonl"
    awk 'NR % 100 == 0' "$file" >"$tmp/few.jsonl"
    python3 -c 'import json, sys
for line in sys.stdin:
    print(json.loads(line)["id"])' <"$tmp/few.jsonl" >"$tmp/ids"
    cat "$tmp/most.jsonl" "$tmp/few.jsonl" >/dev/null
    printf "| %s |" "$(basename "$file" .jsonl)"
    took "$alike" load "$tmp/c" "$tmp/most.jsonl" -w 2 --quiet
    took "$alike" load "$tmp/c" "$tmp/few.jsonl" -w 2 --quiet
    took "$alike" delete "$tmp/c" --ids "$tmp/ids" -w 2 --quiet
    echo
done
