#!/usr/bin/env bash
# Timelines of kernels, read by programs that are not ours: traces by Perfetto's messages, pages by Chromium.
# Usage: test/pictures/run.sh [--shots DIR]. Needs `perfetto` and `playwright` from PyPI, and Debian's chromium.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

run() { cargo run --quiet --bin visa-run -- "$@"; }

# picture NAME KERNEL FLAGS...: its timeline, its trace, its page.
picture() {
    local name=$1
    shift
    run "$@" --cost --report html --timeline "$folder/$name.json" --trace "$folder/$name.pftrace" >"$folder/$name.html"
    echo "$name: $(python3 test/pictures/trace.py "$folder/$name.json" "$folder/$name.pftrace")"
}

inputs=test/tools/visa-run/Inputs
picture nothing $inputs/nothing.visa
picture gemm_tiled test/kernels/gemm_tiled.visa --allocate --memory-model detailed
picture products test/tools/visa-run/measured.visa --entry products --allocate --machine $inputs/round.json --compare $inputs/products.trace
# Too many runs to draw one by one.
run $inputs/loop.visa --cost --report html >"$folder/loop.html"

# Text that is to become neither markup nor something else: in the file's name, in a line, in a name.
nasty="$folder/<script>window.hacked=1<script>\"'&.visa"
python3 - "$nasty" <<'PYTHON'
import sys
line = '// </script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> \u202e ' + 'x' * 10_000
text = ['visa 1', line, f'hw.program @{"n" * 4000}, chips 1 {{']
text += ['  hw.dma tensor, from hbm, to dm, loops [64 : 256 -> 524288, 256 : 1 -> 1] : 256', '}', '']
open(sys.argv[1], 'w', encoding='utf-8').write('\n'.join(text))
PYTHON
picture nasty "$nasty"

# 20,000 commands, each at other addresses.
python3 - "$folder/many.visa" <<'PYTHON'
import sys
with open(sys.argv[1], 'w', encoding='utf-8') as file:
    print('visa 1\nhw.program @many, chips 1 {', file=file)
    for pair in range(10_000):
        dm, source, sink = pair * 4096 % 400_000, pair * 32_768, 2**30 + pair * 32_768
        print(f'  hw.dma tensor, from hbm, to dm, loops [64 : 256 -> 524288, 256 : 1 -> 1] : 256 @ {source} -> {dm}', file=file)
        print(f'  hw.dma tensor, from dm, to hbm, loops [64 : 524288 -> 256, 256 : 1 -> 1] : 256 @ {dm} -> {sink}', file=file)
    print('}', file=file)
PYTHON
picture many "$folder/many.visa"
bytes=$(wc -c <"$folder/many.html")
echo "the page of 20,000 commands has $bytes bytes"
[ "$bytes" -lt 6000000 ]

# The page of many commands takes as long as all others together.
python3 test/pictures/browser.py "$folder/many.html" "$@" &
others=("$folder"/[!m]*.html)
python3 test/pictures/browser.py "${others[@]}" "$@"
wait $!
