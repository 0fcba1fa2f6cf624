#!/usr/bin/env bash
# presets.sh ALIKE DATA: presets by kind of text on the labelled documents that benches/presets.py wrote to DATA, beside the
# best that exact resemblance reaches on the same labels.
#
#   pip download --no-deps --only-binary :all: -d wheels requests==2.20.0 ...   the releases that DATA is made of:
#     requests 2.20.0 2.22.0 2.24.0 2.26.0 2.28.0 2.30.0 2.32.0, jinja2 3.0.0 3.0.3 3.1.0 3.1.2 3.1.4 3.1.6,
#     werkzeug 2.0.0 2.1.0 2.2.0 2.3.0 3.0.0 3.1.0, click 8.0.0 8.0.4 8.1.0 8.1.3 8.1.7 8.2.0, attrs 22.1.0 23.1.0 24.1.0 25.1.0
#   pip download --no-deps --no-binary :all: -d sdists django==1.8 ...
#     django 1.8 1.11 2.0 2.2 3.0 3.2 4.0 4.2 5.0 5.2, sqlalchemy 1.0.0 1.2.0 1.3.0 1.4.0, scrapy 2.11.0
#   pip download --no-deps py-entitymatching==0.4.2; apt-get source --download-only notmuch=0.37-1
#   benches/presets.py DATA sections=openterms_small.events.jsonl titles=py-entitymatching-0.4.2.tar.gz code=wheels qa=sdists \
#     mail=notmuch_0.37.orig.tar.xz
set -euo pipefail
alike=$1
data=$2
for kind in sections titles code qa mail; do
    "$alike" evaluate "$data/$kind.jsonl" --labels "$data/$kind.tsv" --preset "$kind" --preset web --pairs-of links \
        --format markdown -q
    "$alike" tune threshold "$data/$kind.jsonl" --labels "$data/$kind.tsv" --json -q |
        python3 -c 'import json, sys; print("best:", json.load(sys.stdin)["suggestion"])'
done
