#!/usr/bin/env bash
# Times `alike load` of FILE into a new collection and of SECOND into that, as one process with two workers, as two
# processes with one each on one folder, and as two that keep what they write to themselves (--local-state), all on this
# machine, warm cache: a section of Markdown. Seconds are the median of RUNS (3), the ways taken in turn. Stops if a way
# comes to other clusters. Needs Linux and Python 3.9.
#
#     cargo build --profile dist && benches/local.sh FILE.jsonl SECOND.jsonl >> benches/runs/DATE-MACHINE.md
set -euo pipefail
file=$1
second=$2
runs=${RUNS:-3}
alike=$(command -v "${ALIKE:-target/dist/alike}")
here=$(dirname "$0")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
ways=("1 2" "2 1" "2 1 --local-state $tmp/state")

stop() {
    echo "local.sh: $*" >&2
    exit 1
}

# seconds FILE PROCESSES WORKERS OPTION...: one load.
seconds() {
    local input=$1 processes=$2 workers=$3
    shift 3
    sync
    "$here/together.py" "$processes" "$alike" load "$tmp/c" "$input" -w "$workers" --quiet "$@" | cut -d' ' -f1
}

for run in $(seq "$runs"); do
    for at in "${!ways[@]}"; do
        rm -rf "$tmp/c" "$tmp/state"
        # shellcheck disable=SC2086 # a way is several words
        seconds "$file" ${ways[at]} >>"$tmp/first-$at"
        # shellcheck disable=SC2086
        seconds "$second" ${ways[at]} >>"$tmp/second-$at"
        parts=()
        if [ "$at" = 2 ]; then parts=(--local-state "$tmp/state"); fi
        "$alike" clusters "$tmp/c" --json "${parts[@]}" | sort | sha256sum >"$tmp/clusters-$at"
        cmp "$tmp/clusters-0" "$tmp/clusters-$at" || stop "other clusters: ${ways[at]}"
        if [ "$at" = 2 ]; then
            du -sb "$tmp/c" "$tmp/state" | cut -f1 | paste -sd' ' >"$tmp/bytes"
        fi
        echo "run $run: ${ways[at]%$tmp*}" >&2
    done
done
median() {
    sort -g "$1" | sed -n "$(((runs + 1) / 2))p"
}
read -r folder state <"$tmp/bytes"
printf '## Local state: %s, %s\n\n' "$(date -u +%F)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
printf '%s and %s bytes; median of %s runs, in turn\n\n' "$(wc -c <"$file")" "$(wc -c <"$second")" "$runs"
printf '| processes x workers | first load, s | second load, s |\n|---|---|---|\n'
names=("1 x 2" "2 x 1, one folder" "2 x 1, each its own part")
for at in "${!ways[@]}"; do
    printf '| %s | %.2f | %.3f |\n' "${names[at]}" "$(median "$tmp/first-$at")" "$(median "$tmp/second-$at")"
done
printf '\nBytes after both: %s in the folder of the collection, %s with process 1.\n' "$folder" "$state"
