#!/usr/bin/env bash
# Times loads and deletions of a collection on disk against its full load, from a folder that `benches/split.py` made: a
# section of Markdown. Seconds are the median of RUNS (3), each on a fresh copy of the loaded base, on disk and, but for
# what is called cold, in the page cache. Stops if a collection does not hold as many documents as it should. Needs
# Linux, Python 3.9 and room for three collections below TMPDIR, which must be on the disk that is meant.
#
#     benches/grow.py mixed.jsonl big.jsonl --times 3 && benches/split.py big.jsonl parts
#     cargo build --profile dist && benches/collection.sh parts [WORKERS] >> benches/runs/DATE-MACHINE.md
set -euo pipefail
parts=$1
workers=${2:-$(nproc)}
runs=${RUNS:-3}
alike=$(command -v "${ALIKE:-target/dist/alike}")
here=$(dirname "$0")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
loaded=$tmp/loaded
copy=$tmp/copy
percents=(0.01 0.1 1 10)
drop_caches=/proc/sys/vm/drop_caches
if [ -w "$drop_caches" ]; then cold_by="drop_caches of the whole machine"; else cold_by="posix_fadvise of the files"; fi

stop() {
    echo "collection.sh: $*" >&2
    exit 1
}

# info COLLECTION EXPRESSION: Python's value of it, j being what `alike info --json` says.
info() {
    "$alike" info "$1" --json | python3 -c "import json, sys; j = json.load(sys.stdin); print($2)"
}

# live COLLECTION: bytes of the runs that its last commit names.
live() {
    info "$1" 'sum(run["bytes"] for run in j["runs"])'
}

# fresh: the copy is what the loaded base is, or nothing before that is there.
fresh() {
    rm -rf "$copy"
    if [ -d "$loaded" ]; then cp -r --reflink=auto "$loaded" "$copy"; fi
}

# warm INPUT COLLECTION: both are in the page cache.
warm() {
    if [ -d "$2" ]; then find "$2" -type f -exec cat {} + >/dev/null; fi
    cat "$1" >/dev/null
}

# cold INPUT COLLECTION: neither is there, but the program is: its own pages are not counted as read.
cold() {
    if [ -w "$drop_caches" ]; then
        echo 3 >"$drop_caches"
    else
        python3 -c 'import os, sys
for path in sys.argv[1:]:
    with open(path) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)' "$2"/* "$1"
    fi
    cat "$alike" >/dev/null
    "$alike" --version >/dev/null
}

# once DOCUMENTS SAID COMMAND...: runs it, and stops if the copy does not hold so many documents afterwards or SAID is
# not in what was said; "" is not asked for.
once() {
    local documents=$1 said=$2 held report
    shift 2
    if [ -z "$said" ]; then
        "$here/once.py" "$tmp/costs" "$@" >/dev/null || stop "failed: $*"
    else
        report=$("$here/once.py" "$tmp/costs" "$@") || stop "failed: $*"
        [[ $report == *"$said"* ]] || stop "no $said in what was said of: $*: $report"
    fi
    if [ -n "$documents" ]; then
        held=$(info "$copy" 'j["documents"]')
        [ "$held" = "$documents" ] || stop "$held documents instead of $documents after: $*"
    fi
}

# measure CACHE INPUT DOCUMENTS SAID COMMAND...: RUNS times, with the cache warm or cold, on a fresh copy if the command
# names it, the disk at rest. Sets seconds, peak, read and written to those of the run with the median time, and kept to
# what the runs of the collection grew by, if documents are asked for.
measure() {
    local cache=$1 input=$2 documents=$3 said=$4 collection=$loaded before=0
    shift 4
    echo "$cache: $*" >&2
    if [ -d "$loaded" ]; then before=$(live "$loaded"); fi
    rm -f "$tmp/costs"
    if [[ " $* " == *" $copy "* ]]; then collection=$copy; fi
    for ((i = 0; i < runs; i++)); do
        if [ "$collection" = "$copy" ]; then fresh; fi
        sync
        "$cache" "$input" "$collection"
        once "$documents" "$said" "$@"
    done
    read -r seconds peak read written < <(sort -n "$tmp/costs" | sed -n "$(((runs + 1) / 2))p")
    kept=
    if [ -n "$documents" ]; then
        kept=$(live "$copy")
        kept=$((kept - before))
    fi
}

# row NAME RECORDS INPUT_BYTES: the last measure as a line of the table; "" where there is no such number.
row() {
    awk -v n="$1" -v r="$2" -v b="$3" -v s="$seconds" -v f="$full" -v p="$peak" -v i="$read" -v w="$written" -v k="$kept" '
        function mega(bytes) { return bytes == "" ? "" : sprintf("%.1f", bytes / 1e6) }
        BEGIN {
            printf "| %s | %s | %s | %.3f | %s | %s | %s | %s | %s | %s |\n", n, r, mega(b), s, \
                (f == "" ? "" : sprintf("%.2f", 100 * s / f)), mega(p), mega(i), mega(w), mega(k), \
                (k > 0 ? sprintf("%.2f", w / k) : "") }'
}

lines() {
    wc -l <"$1"
}

bytes() {
    wc -c <"$1"
}

# load NAME FILE DONE DOCUMENTS CACHE: measures it, all records of FILE having been DONE, and prints its row.
load() {
    measure "$5" "$2" "$4" "\"$3\":$(lines "$2")," "$alike" load "$copy" "$2" -w "$workers" --quiet --json
    row "$1" "$(lines "$2")" "$(bytes "$2")"
}

# delete NAME FILE CACHE: measures it and prints its row.
delete() {
    local ids
    ids=$(lines "$2")
    measure "$3" "$2" $((base - ids)) "\"removed\":$ids," "$alike" delete "$copy" --ids "$2" -w "$workers" --quiet --json
    row "$1" "$ids" ""
}

# size NAME COLLECTION: a line of the table of sizes.
size() {
    local runs_bytes folder
    runs_bytes=$(live "$2")
    folder=$(cat "$2"/* | wc -c)
    awk -v n="$1" -v l="$runs_bytes" -v f="$folder" -v t="$text" 'BEGIN {
        printf "| %s | %.1f | %.3f | %.1f | %.3f |\n", n, l / 1e6, l / t, f / 1e6, f / t }'
}

# opening NAME COMMAND...: a line in milliseconds, with a warm cache and with a cold one.
opening() {
    local name=$1 warm_seconds
    shift
    measure warm /dev/null "" "" "$@"
    warm_seconds=$seconds
    measure cold /dev/null "" "" "$@"
    awk -v n="$name" -v w="$warm_seconds" -v c="$seconds" -v r="$read" 'BEGIN {
        printf "| %s | %.1f | %.1f | %.2f |\n", n, w * 1e3, c * 1e3, r / 1e6 }'
}

file=$parts/base.jsonl
for part in "$file" "$parts/change_1.jsonl" "${percents[@]/#/$parts/new_}" "${percents[@]/#/$parts/del_}"; do
    case $part in
    */new_*) part+=.jsonl ;;
    */del_*) part+=.txt ;;
    esac
    [ -r "$part" ] || stop "cannot read $part: benches/split.py makes it"
done
base=$(lines "$file")
"$alike" dedup "$file" --dry-run --method exact -w "$workers" --json-progress 2>"$tmp/summary"
text=$(sed -n 's/.*"text_bytes": *\([0-9]*\).*/\1/p' "$tmp/summary")
[ -n "$text" ] || stop "no text_bytes in the summary of alike dedup $file"
full=

echo "## Collection: $(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(uname -sr)"
echo
echo "$("$alike" --version), -w $workers; base of $base records, $(bytes "$file") bytes, $text bytes of text; median of $runs runs,"
echo "each on a fresh copy of the base. Written: pages made dirty. Kept: what the runs named by the last commit grew by."
echo "Cold: by $cold_by; the least peak that can be seen is 10 to 15 MB."
echo
echo "| | records | MB of input | seconds | % of the full load | peak MB | MB read | MB written | MB kept | written / kept |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for command in "wc -w" cat; do
    # shellcheck disable=SC2086 # a command and its flag
    measure warm "$file" "" "" $command "$file"
    row "\`$command\` of the base" "$base" "$(bytes "$file")"
done
measure warm "$file" "$base" "\"added\":$base," "$alike" load "$copy" "$file" -w "$workers" --quiet --json
full=$seconds
row "full load" "$base" "$(bytes "$file")"
mv "$copy" "$loaded"
for percent in "${percents[@]}"; do
    new=$parts/new_$percent.jsonl
    load "load of $percent % new" "$new" added $((base + $(lines "$new"))) warm
done
load "load of 1 % changed" "$parts/change_1.jsonl" replaced "$base" warm
load "load of the base again" "$file" unchanged "$base" warm
for percent in "${percents[@]}"; do
    delete "deletion of $percent %" "$parts/del_$percent.txt" warm
done
load "cold: load of 1 % new" "$parts/new_1.jsonl" added $((base + $(lines "$parts/new_1.jsonl"))) cold
delete "cold: deletion of 1 %" "$parts/del_1.txt" cold
measure warm /dev/null "" "" "$alike" fsck "$loaded"
row "\`fsck\`" "$base" ""

opening "\`info\`" "$alike" info "$loaded" --json >"$tmp/openings"
opening "to write: \`delete\` of no ids" "$alike" delete "$loaded" --ids /dev/null -w "$workers" --quiet >>"$tmp/openings"

# What compaction is for: a base that has changed. All of it is one after the other, on one copy.
size "after the full load" "$loaded" >"$tmp/sizes"
fresh
count=$((base + $(lines "$parts/new_10.jsonl")))
once "$count" "" "$alike" load "$copy" "$parts/new_10.jsonl" -w "$workers" --quiet --json
once "$count" "" "$alike" load "$copy" "$parts/change_1.jsonl" -w "$workers" --quiet --json
count=$((count - $(lines "$parts/del_10.txt")))
once "$count" "" "$alike" delete "$copy" --ids "$parts/del_10.txt" -w "$workers" --quiet --json
size "after 10 % new, 1 % changed and 10 % deleted" "$copy" >>"$tmp/sizes"
rm -rf "$loaded"
mv "$copy" "$loaded"
measure warm /dev/null "$count" "" "$alike" compact "$copy"
row "\`compact\` after 10 % new, 1 % changed and 10 % deleted" "$count" ""
size "after its \`compact\`" "$copy" >>"$tmp/sizes"

echo
echo "| size | MB of runs | a byte of the base's text | MB in the folder, with files that a later commit removes | a byte of the base's text |"
echo "|---|---|---|---|---|"
cat "$tmp/sizes"
echo
echo "| opening | warm, ms | cold, ms | cold, MB read |"
echo "|---|---|---|---|"
cat "$tmp/openings"
