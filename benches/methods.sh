#!/usr/bin/env bash
# What the papers show of their methods, measured on files of documents: the tables of docs/src/explanation/measured-methods.md, as Markdown.
# Each FILE is JSON Lines. Needs Python 3.9.
#
#     cargo build --profile dist && benches/methods.sh FILE.jsonl... > methods.md
set -euo pipefail
alike=$(command -v "${ALIKE:-target/dist/alike}")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alike-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# figure FILE EXPRESSION: of a JSON document d.
figure() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

for file in "$@"; do
    name=$(basename "$file" .jsonl)
    echo "## $name"
    echo
    echo "### Methods side by side"
    echo
    "$alike" evaluate "$file" --all --pairs-of links --format markdown 2>>"$tmp/log"
    for threshold in 0.6 0.85; do
        echo
        echo "### Sampling at threshold $threshold (Ye, Wen and Ma 2008)"
        echo
        echo '```'
        "$alike" tune sampling "$file" --ngram 10 --threshold "$threshold" --precision 0.85 2>&1
        echo '```'
    done
    echo
    echo "### Edit distance to representatives (Wang and Gemmell 2005, figures 2 and 4), and kinds (Conrad et al. 2003)"
    echo
    echo "| threshold | clustering | mean | greatest | over one half | sets: exact, excerpt, elaboration, insertion, focus, revision |"
    echo "|---|---|---|---|---|---|"
    for threshold in 0.5 0.8; do
        for clustering in transitive guarantee; do
            rm -rf "$tmp/out"
            "$alike" dedup "$file" --threshold "$threshold" --clustering "$clustering" --kinds --out "$tmp/out" \
                --quiet 2>>"$tmp/log"
            figure "$tmp/out/summary.json" "(lambda k: f\"| $threshold | $clustering | {k['mean_edit_share']:.1%} | \"
                f\"{k['largest_edit_share']:.1%} | {k['mostly_edited']} of {sum(r['removed'] for r in k['kinds'])} | \"
                + ', '.join(str(r['sets']) for r in k['kinds']) + ' |')(d['kinds'])"
        done
    done
    echo
    echo "### Low-idf filter before features (Wang and Gemmell 2005, table 2)"
    echo
    echo "| terms left out | exact duplicates | near-duplicates |"
    echo "|---|---|---|"
    documents=$(wc -l <"$file")
    for idf in 0 4 5; do
        least=$(python3 -c 'import math, sys; print(round(float(sys.argv[1]) / math.log(int(sys.argv[2]) + 1), 4))' "$idf" "$documents")
        "$alike" presets wang2005 | sed 's/^verify = "edits" /verify = "none" /' >"$tmp/wang.toml"
        printf '\n[text.filter]\nmin_idf = %s\n' "$least" >>"$tmp/wang.toml"
        rm -rf "$tmp/out"
        "$alike" dedup "$file" --config "$tmp/wang.toml" --out "$tmp/out" --quiet 2>>"$tmp/log"
        figure "$tmp/out/summary.json" \
            "f\"| idf below $idf | {d['exact_duplicates'] / d['documents']:.1%} | {d['near_duplicates'] / d['documents']:.1%} |\""
    done
    echo
done
