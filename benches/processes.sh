#!/usr/bin/env bash
# Times `alike dedup` of one uncompressed JSONL file as one process with two workers, as two and as four processes with one
# each, all on this machine, warm cache; then what crosses between two processes with each method: a section of Markdown.
# Seconds are the median of RUNS (5), the shapes taken in turn, so that whatever else the machine does meets all of them.
# Stops if a shape removes another number of documents. Needs Linux and Python 3.9.
#
#     cargo build --profile dist && benches/processes.sh FILE.jsonl >> benches/runs/DATE-MACHINE.md
set -euo pipefail
file=$1
runs=${RUNS:-5}
alike=$(command -v "${ALIKE:-target/dist/alike}")
here=$(dirname "$0")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
shapes=("1 2" "2 1" "4 1")

stop() {
    echo "processes.sh: $*" >&2
    exit 1
}

# figure NAME: a whole number of the summary of the last run.
figure() {
    sed -n "s/^ *\"$1\": *\([0-9]*\),*$/\1/p" "$tmp/out/summary.json" | head -n 1
}

# together PROCESSES WORKERS OPTION...: one run; what it cost goes to standard output.
together() {
    local processes=$1 workers=$2
    shift 2
    rm -rf "$tmp/out"
    sync
    "$here/together.py" "$processes" "$alike" dedup "$file" --out "$tmp/out" -w "$workers" --quiet "$@" ||
        stop "failed as $processes x $workers: $*"
}

"$alike" dedup "$file" --out "$tmp/out" --quiet
text=$(figure text_bytes)
removed=$(figure removed)
bytes=$(wc -c <"$file")

echo "## Processes: $(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(uname -sr)"
echo
echo "$("$alike" --version); $(wc -l <"$file") records, $bytes bytes, $text bytes of text; median of $runs runs, in turn"
echo
echo "| processes x workers | seconds | against one process | CPU seconds | of them in user mode | MB/s | peak MB of each process |"
echo "|---|---|---|---|---|---|---|"
for ((run = 0; run < runs; run++)); do
    for shape in "${shapes[@]}"; do
        read -r processes workers <<<"$shape"
        echo "run $run: $processes x $workers" >&2
        together "$processes" "$workers" >>"$tmp/$processes"
        [ "$(figure removed)" = "$removed" ] || stop "$(figure removed) removed, not $removed, as $processes x $workers"
    done
done
alone=
for shape in "${shapes[@]}"; do
    read -r processes workers <<<"$shape"
    read -r seconds cpu user peaks < <(sort -n "$tmp/$processes" | sed -n "$(((runs + 1) / 2))p")
    alone=${alone:-$seconds}
    awk -v n="$processes x $workers" -v s="$seconds" -v a="$alone" -v c="$cpu" -v u="$user" -v b="$bytes" -v p="$peaks" 'BEGIN {
        count = split(p, all, " ")
        for (i = 1; i <= count; i++) shown = shown (i > 1 ? ", " : "") sprintf("%.0f", all[i] / 1e6)
        printf "| %s | %.2f | %+.0f %% | %.2f | %.2f | %.0f | %s |\n", n, s, 100 * (s / a - 1), c, u, b / s / 1e6, shown }'
done

echo
echo "| method, 2 x 1 | bytes on the wire | a byte of text |"
echo "|---|---|---|"
for method in join features shingles exact; do
    together 2 1 --method "$method" >/dev/null
    wire=$(figure wire_bytes)
    [ -n "$wire" ] || stop "no wire_bytes in the summary of --method $method"
    awk -v m="$method" -v w="$wire" -v t="$text" 'BEGIN { printf "| `%s` | %d | %.4f |\n", m, w, w / t }'
done
