#!/usr/bin/env bash
# Times two builds of alike against each other on one uncompressed JSONL file with ids: `dedup` by three methods, a first
# load, and a load of 1 % more. The two take turns, so that a machine that slows down slows both. Prints a table in
# Markdown: medians of RUNS (5) in seconds of wall clock and of CPU, and the ratio of the medians, old over new: above
# 1 the new one is faster. Needs GNU time.
#
#     cargo build --profile dist && benches/against.sh OLD_PROGRAM target/dist/alike FILE.jsonl [WORKERS]
set -euo pipefail
declare -A programs=([old]=$(realpath "$1") [new]=$(realpath "$2"))
file=$(realpath "$3")
workers=${4:-$(nproc)}
runs=${RUNS:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-against.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# Every hundredth record is loaded later.
awk -v new="$tmp/new.jsonl" -v base="$tmp/base.jsonl" '{ print > (NR % 100 == 0 ? new : base) }' "$file"
for side in old new; do
    "${programs[$side]}" load "$tmp/$side.loaded" "$tmp/base.jsonl" -w "$workers" --quiet
done

# once SIDE WORK: seconds of wall clock and of CPU of one run.
once() {
    local program=${programs[$1]} work
    rm -rf "$tmp/out"
    case $2 in
    "first load") work=(load "$tmp/out" "$tmp/base.jsonl") ;;
    "load of 1 %")
        cp -r "$tmp/$1.loaded" "$tmp/out"
        work=(load "$tmp/out" "$tmp/new.jsonl")
        ;;
    *) work=(dedup "$file" --out "$tmp/out" --method "$2") ;;
    esac
    sync
    /usr/bin/time -o "$tmp/time" -f "%e %U %S" "$program" "${work[@]}" -w "$workers" --quiet
    awk '{ print $1, $2 + $3 }' "$tmp/time"
}

# median COLUMN: the median of a column of standard input.
median() {
    awk -v c="$1" '{ print $c }' | sort -n | sed -n "$(((runs + 1) / 2))p"
}

echo "$workers workers, $(wc -l <"$file") records, $(wc -c <"$file") bytes, medians of $runs runs"
echo
echo "| work | old, s | new, s | old / new | old, CPU s | new, CPU s | old / new |"
echo "|---|---:|---:|---:|---:|---:|---:|"
# `features` is what `minhash` was called before, and is understood by both.
for work in join features exact "first load" "load of 1 %"; do
    for ((i = 0; i <= runs; i++)); do
        for side in old new; do
            once "$side" "$work" >"$tmp/figures"
            # The first pair of runs warms the page cache.
            if [ "$i" -gt 0 ]; then cat "$tmp/figures" >>"$tmp/$side.figures"; fi
        done
    done
    awk -v work="$work" \
        -v a="$(median 1 <"$tmp/old.figures")" -v b="$(median 1 <"$tmp/new.figures")" \
        -v c="$(median 2 <"$tmp/old.figures")" -v d="$(median 2 <"$tmp/new.figures")" 'BEGIN {
        printf "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", work, a, b, a / b, c, d, c / d }'
    rm "$tmp/old.figures" "$tmp/new.figures"
done
