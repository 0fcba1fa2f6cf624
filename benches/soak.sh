#!/usr/bin/env bash
# A collection of several GB that is loaded, changed, compacted, checked and read for an hour, while its commands are
# killed, stopped, run out of disk and lose a machine. At the end it has to equal one run over what is left.
#
#     benches/soak.sh [MINUTES]
#
# ALIKE names the program (target/dist/alike), SOAK the folder with all state (alike-soak in the temporary folder),
# SOAK_GB how large the collection grows (4; the state takes up to twelve times that). Ended at any moment, the same command
# goes on where it was. Full disks need loop devices, lost machines network namespaces, both the rights of root; without
# them these faults are left out, and the report says so.
set -euo pipefail
cd "$(dirname "$0")/.."
alike=${ALIKE:-target/dist/alike}
if ! [ -x "$alike" ]; then
    echo "$alike is no program: cargo build --profile dist --bin alike, or name one with ALIKE" >&2
    exit 2
fi
exec nice python3 benches/campaign/soak.py "$alike" "${SOAK:-${TMPDIR:-/tmp}/alike-soak}" "${1:-60}" "${SOAK_GB:-4}"
