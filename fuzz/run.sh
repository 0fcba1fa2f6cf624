#!/usr/bin/env bash
# Runs the fuzz targets, all or those that are named, one after the other:
#
#     fuzz/run.sh [SECONDS] [TARGET...]
#
# Each runs for SECONDS, 60 if no number is given. The first that finds something ends it. See README.md.
set -euo pipefail
cd "$(dirname "$0")/.."

# Target, dictionary, longest input in bytes, most memory in MiB, other options of libFuzzer; - for none.
table='
tokens     tokens   4096  2048 -
features   -        4096  2048 -
reader     reader   4096  2048 -
csv        tables   2048  2048 -len_control=0
tsv        tables   2048  2048 -len_control=0
parquet    parquet  1024  2048 -len_control=0
arrow      arrow    1024  2048 -len_control=0
warc       crawls   2048  2048 -len_control=0
arc        crawls   2048  2048 -len_control=0
html       pages    2048  2048 -len_control=0
eml        mail     2048  2048 -len_control=0
mbox       mail     2048  2048 -len_control=0
trec       tags     2048  2048 -len_control=0
mediawiki  tags     2048  2048 -len_control=0
tar        archives 4096  2048 -len_control=0
zip        zip      4096  2048 -len_control=0
docx       office   2048  2048 -len_control=0
odt        office   2048  2048 -len_control=0
epub       office   2048  2048 -len_control=0
rtf        rtf      2048  2048 -len_control=0
pdf        pdf      4096  2048 -len_control=0
packed     packed   1024  2048 -len_control=0
found      found    2048  2048 -len_control=0
run        -        65536 2048 -
manifest   -        400   2048 -len_control=0
checkpoint -        400   2048 -len_control=0
tables     -        600   2048 -len_control=0
histories  -        300   2048 -len_control=0
frames     frames   4096  2048 -
lexicon    lexicon  2048  2048 -
config     config   2048  2048 -
labels     labels   2048  2048 -
hosts      hosts    1024  2048 -
'

seconds=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
fi
for name in "$@"; do
    if ! grep -q "^$name " <<<"$table"; then
        echo "fuzz/run.sh: there is no target $name" >&2
        exit 2
    fi
done

# A stable toolchain does where it is told to.
export RUSTC_BOOTSTRAP=1
# Nothing looks for errors of memory, and overflows are still found, by the profile: a build takes a fraction of the time.
build=(-s none -O --codegen-units 48)
# The files that are read go to memory where there is a folder for it.
if [[ -z ${TMPDIR:-} && -d /dev/shm ]]; then
    export TMPDIR=/dev/shm
fi

while read -r name dictionary longest memory other; do
    if [[ -z $name || ($# -gt 0 && " $* " != *" $name "*) ]]; then
        continue
    fi
    options=("-max_len=$longest" "-rss_limit_mb=$memory" -timeout=30 "-max_total_time=$seconds")
    if [[ $dictionary != - ]]; then
        options+=("-dict=fuzz/dictionaries/$dictionary.dict")
    fi
    if [[ $other != - ]]; then
        options+=("$other")
    fi
    echo "== $name"
    cargo fuzz run "${build[@]}" "$name" -- "${options[@]}" </dev/null
done <<<"$table"
