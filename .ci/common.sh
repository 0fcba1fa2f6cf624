# shellcheck shell=bash disable=SC2034
# What the scripts here have in common; they source it. All runs in a copy of the tree that nothing lies beside, as a newcomer has it.
# Leaves nothing outside the target folder and a temporary folder.
set -euo pipefail
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
export PATH=$target/ci-tools/bin:$PATH
corpora=${ALIKE_CORPORA:-$PWD/../shared/data}
unset ALIKE_CORPORA ALIKE_FULL
# Tests that start processes wait for these about a quarter of the time.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 1))}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'echo "FAILED: ${title:-before the first step}" >&2' ERR

# step TITLE: a heading, and the seconds of the step before it.
SECONDS=0
title=
done_at=0
step() {
    if [ -n "$title" ]; then echo "-- $title: $((SECONDS - done_at)) s"; fi
    done_at=$SECONDS
    title=$1
    printf '\n== %s\n' "$title"
}

fail() {
    echo "$*" >&2
    echo "FAILED: $title" >&2
    exit 1
}

# The command of README.md that begins with the given words: what is tested is what the reader is told.
readme_command() {
    local line
    line=$(grep -m 1 "^$1" README.md) || fail "README.md has no command that begins with: $1"
    printf '%s\n' "$line"
}

# install CRATE VERSION FLAG...: a program that cargo compiles, once: it stays in the target folder.
install() {
    # What these do takes a second either way.
    CARGO_TARGET_DIR=$target/ci-tools/build CARGO_PROFILE_DEV_DEBUG=0 \
        cargo install "$1" --locked --version "$2" --debug --root "$target/ci-tools" "${@:3}"
}

count() { wc -l <"$1"; }

# Always the same place, so that a later run compiles only what has changed.
step "a copy of the tree"
copy=$target/ci-tree/alike
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
    xargs -0 cp --parents --preserve=mode,timestamps --target-directory="$copy"
# The copy has no commits; what is packed has the time of the last one, and interfaces are compared with that of the last release.
repository=$PWD
released=$(git describe --tags --abbrev=0 2>/dev/null || true)
commit_time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
cd "$copy"
