#!/usr/bin/env bash
# Runs every fuzz target of the tree for a while: fuzz.sh DURATION [PREFIX]. A tree without targets is an error.
# PREFIX keeps the targets of one folder. One target more runs at a time than there are processors, each with one worker, since much of a run is compiling and starting.
# Go's fuzzer now and then reports its own stop at the end of the time as "context deadline exceeded", or loses its worker,
# with no input to blame, on a busy machine; such a run is repeated, three times in all.
set -euo pipefail
cd "$(dirname "$0")/.."

# fuzz DIR NAME prints a line when the target held, and the report when it did not.
fuzz() {
  local out try
  for try in 1 2 3; do
    if out=$(go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$duration" -fuzzminimizetime 20x -parallel 1 2>&1 </dev/null); then
      printf 'fuzz %-40s %s\n' "$1" "$2"
      return 0
    fi
    grep -qE 'context deadline exceeded|communicating with fuzzing process' <<<"$out" && ! grep -q 'Failing input' <<<"$out" || break
    echo "fuzz: $1 $2 ended without an input to blame (try $try)" >&2
  done
  printf 'fuzz: %s %s failed\n%s\n' "$1" "$2" "$out"
  return 255 # xargs starts no more
}

if [ "${1:-}" = --one ]; then
  duration=$2
  fuzz "$(dirname "$3")" "$4"
  exit
fi

duration=${1:-10s}
prefix=${2:-}
targets=$(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -hHoE '^func Fuzz[A-Za-z0-9_]+' | sed 's/:func / /' | sort |
  awk -v p="$prefix" 'index($1, p) == 1')
[ -n "$targets" ] || { echo "fuzz: found no target" >&2; exit 1; }
xargs -P "$(($(nproc) + 1))" -L 1 "$0" --one "$duration" <<<"$targets" ||
  { echo "fuzz: something was found" >&2; exit 1; }
echo "fuzz: $(wc -l <<<"$targets") targets, $duration each, nothing found"
