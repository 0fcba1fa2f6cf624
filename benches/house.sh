#!/usr/bin/env bash
# Measures how this repository is to live in: builds, tests, layers, words. Prints a table in Markdown, a row a figure, each
# with its command. Works on a fresh clone of HEAD, with the crates already fetched; takes a quarter of an hour.
#
#     benches/house.sh > benches/runs/DATE-MACHINE-house.md
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-house.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
git clone --quiet . "$tmp/alike"
cd "$tmp/alike"
unset ALIKE_CORPORA
cargo fetch --locked --quiet

# row WHAT FIGURE COMMAND
row() {
    echo "| $1 | $2 | \`$3\` |"
}

# seconds COMMAND: of wall clock and of CPU that a command takes; what it says is in `$tmp/log`.
seconds() {
    local TIMEFORMAT="%R s, %U + %S s of CPU"
    { time bash -c "$1" >"$tmp/log" 2>&1; } 2>&1 || { cat "$tmp/log" >&2; exit 1; }
}

# readme_command WORDS: the first command of README.md that begins with them.
readme_command() {
    grep -m 1 "^ *$1" README.md | sed 's/^ *//'
}

echo "# $(date +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(uname -sr)"
echo
echo "| what | figure | command |"
echo "|---|---|---|"
run=$(readme_command "cargo run")
run="${run%% --out*} --out $tmp/out"
row "clean build and first run" "$(seconds "$run")" "${run/$tmp/DIR}"
test=$(readme_command "cargo test")
rm -rf target
row "clean build and all tests" "$(seconds "$test")" "$test"
one="cargo test --test tests -- care::"
seconds "$one" >"$tmp/unused"
file=$(find src/collection -name '*.rs' | sort | head -n 1)
echo "// A line." >>"$file"
row "a line of src/collection changed, one integration test run" "$(seconds "$one")" "$one"
git checkout --quiet "$file"
layers="cargo test --test tests -- layers:: --nocapture"
seconds "$layers" >"$tmp/unused"
sed -n 's/^\([a-z ]*\): \([0-9]*\)$/\1 \2/p' "$tmp/log" | while read -r line; do
    row "${line% *}" "${line##* }" "$layers"
done
row "lines of README" "$(wc -l <README.md)" "wc -l README.md"
words='Jaccard\|LSH\|prefix filter\|set-similarity join\|atomic\|LSM'
row "the field's words in README, ARCHITECTURE and docs" \
    "$(cat README.md ARCHITECTURE.md docs/src/*.md docs/src/*/*.md | grep -io "$words" | wc -l)" "grep -io WORDS"
python3 docs/sentences.py | while read -r line; do
    row "average words of a sentence" "$line" "python3 docs/sentences.py"
done
