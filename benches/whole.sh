#!/usr/bin/env bash
# Times whole processes on one uncompressed JSONL file, warm cache: `wc -w` and `cat` of it, and `alike dedup` with each
# method, kept files written, with one worker and with two. Prints a table in Markdown: seconds are the median of RUNS
# (5), ratios are to `wc -w` in the same run. Needs GNU time.
#
#     cargo build --profile dist && benches/whole.sh FILE.jsonl > benches/runs/DATE-MACHINE.md
set -euo pipefail
file=$1
runs=${RUNS:-5}
alike=${ALIKE:-target/dist/alike}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# once COMMAND...: seconds and peak KiB of one run, the disk at rest: what an earlier run wrote is on it.
once() {
    rm -rf "$tmp/out"
    sync
    /usr/bin/time -o "$tmp/time" -f "%e %M" "$@" >/dev/null
    cat "$tmp/time"
}

# median COMMAND...: the run with the median time.
median() {
    for ((i = 0; i < runs; i++)); do once "$@"; done | sort -n | sed -n "$(((runs + 1) / 2))p"
}

# row NAME SECONDS KIB
row() {
    awk -v n="$1" -v s="$2" -v k="$3" -v b="$bytes" -v t="$text" -v w="$words" 'BEGIN {
        printf "| %s | %.2f | %.0f | %.2f | %.0f | %.2f |\n", n, s, b / s / 1e6, w / s, k * 1.024 / 1e3, k * 1024 / t }'
}

bytes=$(wc -c <"$file")
"$alike" dedup "$file" --out "$tmp/out" --quiet
text=$(sed -n 's/.*"text_bytes": \([0-9]*\).*/\1/p' "$tmp/out/summary.json")
cat "$file" >/dev/null
read -r words kib < <(median wc -w "$file")

echo "# $(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(uname -sr)"
echo
echo "$("$alike" --version); $(wc -l <"$file") records, $bytes bytes, $text bytes of text; median of $runs runs"
echo
echo "| command | seconds | MB/s | speed against \`wc -w\` | peak MB | peak bytes a byte of text |"
echo "|---|---|---|---|---|---|"
row "\`wc -w\`" "$words" "$kib"
read -r seconds kib < <(median cat "$file")
row "\`cat\`" "$seconds" "$kib"
for method in join features exact shingles; do
    for workers in 1 2; do
        read -r seconds kib < <(median "$alike" dedup "$file" --out "$tmp/out" --method "$method" -w "$workers" --quiet)
        row "\`--method $method -w $workers\`" "$seconds" "$kib"
    done
done
echo
echo "Seconds of each stage, one worker, \`join\`:"
echo
rm -rf "$tmp/out"
"$alike" dedup "$file" --out "$tmp/out" -w 1 2>&1 | sed -n 's/^  seconds */    /p'
