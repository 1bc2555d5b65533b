#!/usr/bin/env bash
# Runs every fuzz target of the tree for a while: fuzz.sh DURATION. A tree without targets is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
duration=${1:-10s}
n=0
while IFS=: read -r file name; do
  n=$((n + 1))
  printf 'fuzz %-40s %s\n' "$(dirname "$file")" "$name"
  out=$(go test "./$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$duration" 2>&1) || { echo "$out"; exit 1; }
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -hHoE '^func Fuzz[A-Za-z0-9_]+' | sed 's/func //' | sort)
[ "$n" -gt 0 ] || { echo "fuzz: found no target" >&2; exit 1; }
echo "fuzz: $n targets, $duration each, nothing found"
