#!/usr/bin/env bash
# Fuzzes each target for SECONDS (60 by default): test/fuzz/run.sh [SECONDS] [TARGET...]
#
# Needs `cargo install cargo-fuzz`. The stable compiler serves: RUSTC_BOOTSTRAP=1 lets it take the sanitizer's flags.
# The seeds are the .visa files under test/, in both forms and at every level; new inputs go to corpus/, inputs that
# fail to artifacts/.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then targets=(parse lower mapping select allocate plan_vector data); fi

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
cargo build --quiet --release -p visa-opt
visa_opt=${CARGO_TARGET_DIR:-target}/release/visa-opt
find test -name '*.visa' -size -16k -not -path 'test/fuzz/*' | sort | while read -r file; do
    name=$(tr / - <<<"${file#test/}")
    csplit --quiet --prefix="$seeds/$name." "$file" '%^%' '/^\/\/ -----/' '{*}'
done
for seed in "$seeds"/*; do
    # Files that are wrong on purpose have no other form.
    "$visa_opt" --print-generic "$seed" -o "$seed.generic" 2>/dev/null || true
    "$visa_opt" --lower-to-seq "$seed" -o "$seed.seq" 2>/dev/null || true
    "$visa_opt" --lower-to-seq --lower-to-hw "$seed" -o "$seed.hw" 2>/dev/null || true
done
# For the target `mapping`: every mapping of the tests, two lines a seed.
grep -rhoE '\[[][A-Za-z0-9_ /%=#@{}!$(),:'"'"']*\]' test --include='*.visa' | sort -u | paste -d '\n' - - |
    split -l 2 - "$seeds/mapping."
# For the target `data`: a small file of each kind, 8 times 16 ones of f32.
ones() { for _ in $(seq 128); do printf '\000\000\200\077'; done; }
npy="{'descr': '<f4', 'fortran_order': False, 'shape': (8, 16), }"
{ printf '\223NUMPY\001\000\075\000%s\n' "$npy"; ones; } >"$seeds/data.npy"
header='{"x":{"dtype":"F32","shape":[8,16],"data_offsets":[0,512]}}'
{ printf '\073\000\000\000\000\000\000\000%s' "$header"; ones; } >"$seeds/data.safetensors"
echo '{"name": "other", "topology": {"max_chips": 8, "clusters_per_chip": 2, "slices_per_cluster": 256, "dmns_per_pe": 2}}' \
    >"$seeds/data.json"

export RUSTC_BOOTSTRAP=1
for target in "${targets[@]}"; do
    mkdir -p "test/fuzz/corpus/$target"
    cargo fuzz run --fuzz-dir test/fuzz "$target" "test/fuzz/corpus/$target" "$seeds" -- \
        -dict=test/fuzz/visa.dict -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
        -max_total_time="$seconds" -print_final_stats=1
done
