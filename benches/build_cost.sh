#!/usr/bin/env bash
# What a clean default build costs at two commits: crates, and seconds on the clock and of processors, in turns on one machine.
#
#     benches/build_cost.sh BEFORE AFTER [TIMES]
#
# BEFORE and AFTER are commits; each is built TIMES times (3) into an empty folder by `cargo build --release --locked`, as somebody
# does who has just cloned it. What has to be downloaded is fetched before. Run it on a quiet machine: it takes minutes a build,
# and about a gigabyte below TMPDIR. Prints a row of Markdown for each build, and how much the best ones differ.
set -euo pipefail
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n 3p >&2
    exit 2
fi
commits=("$1" "$2")
times=${3:-3}
repository=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

crates=()
for at in 0 1; do
    mkdir "$folder/$at"
    git -C "$repository" archive "${commits[at]}" | tar -x -C "$folder/$at"
    (cd "$folder/$at" && cargo fetch --locked --quiet)
    # Names with versions, as they are compiled for this machine; build scripts and macros are compiled, too.
    crates[at]=$(cd "$folder/$at" && cargo tree --locked -e normal,build --prefix none | sed 's/ (.*//' | sort -u | wc -l)
done

echo "| commit | crates | seconds | seconds of processors |"
echo "|---|---:|---:|---:|"
for _ in $(seq "$times"); do
    for at in 0 1; do
        rm -rf "$folder/target"
        (
            cd "$folder/$at"
            TIMEFORMAT='%R %U %S'
            { time CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$folder/target" cargo build --release --locked --quiet 2>"$folder/said"; } \
                2>"$folder/took" || { cat "$folder/said" >&2; exit 1; }
        )
        read -r wall user system <"$folder/took"
        awk -v commit="${commits[at]}" -v crates="${crates[at]}" -v wall="$wall" -v user="$user" -v kernel="$system" \
            'BEGIN { printf "| %s | %d | %.1f | %.1f |\n", commit, crates, wall, user + kernel }'
        echo "$at $wall $(awk -v user="$user" -v kernel="$system" 'BEGIN { print user + kernel }')" >>"$folder/all"
    done
done
awk -v before="${crates[0]}" -v after="${crates[1]}" '
    !($1 in wall) || $2 < wall[$1] { wall[$1] = $2 }
    !($1 in cpu) || $3 < cpu[$1] { cpu[$1] = $3 }
    END {
        printf "crates %+.1f %%, seconds %+.1f %%, seconds of processors %+.1f %%\n",
            100 * (after / before - 1), 100 * (wall[1] / wall[0] - 1), 100 * (cpu[1] / cpu[0] - 1)
    }' "$folder/all"
