#!/usr/bin/env bash
# Runs every fuzz target of the tree for a while: fuzz.sh DURATION [PREFIX]. A tree without targets is an error.
# PREFIX keeps the targets of one folder. Go's fuzzer now and then reports its own stop at the end of the time as
# "context deadline exceeded", with no input to blame, on a busy machine; such a run is repeated, three times in all.
set -euo pipefail
cd "$(dirname "$0")/.."
duration=${1:-10s}
prefix=${2:-}

# fuzz DIR NAME prints nothing when the target held, and the report when it did not.
fuzz() {
  local out try
  for try in 1 2 3; do
    out=$(go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$duration" 2>&1 </dev/null) && return 0
    grep -q 'context deadline exceeded' <<<"$out" && ! grep -q 'Failing input' <<<"$out" || break
    echo "fuzz: $1 $2 was stopped late by the clock (try $try)" >&2
  done
  echo "$out"
  return 1
}

n=0
while IFS=: read -r file name; do
  case $file in "$prefix"*) ;; *) continue ;; esac
  n=$((n + 1))
  printf 'fuzz %-40s %s\n' "$(dirname "$file")" "$name"
  fuzz "$(dirname "$file")" "$name"
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -hHoE '^func Fuzz[A-Za-z0-9_]+' | sed 's/func //' | sort)
[ "$n" -gt 0 ] || { echo "fuzz: found no target" >&2; exit 1; }
echo "fuzz: $n targets, $duration each, nothing found"
