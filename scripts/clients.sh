#!/usr/bin/env bash
# Drives real MCP clients from npm against bin/tackle. Each script in tests/clients/*.sh is one client; it fails by exit
# status and finds the server in $TACKLE, an empty workspace in $WS and a state folder in $STATE.
# clients.sh [NAME…] runs only the named ones.
set -euo pipefail
cd "$(dirname "$0")/.."
export TACKLE="$PWD/bin/tackle"
[ -x "$TACKLE" ] || { echo "clients: $TACKLE is not built; run make build" >&2; exit 1; }

# The lock file pins versions and digests; addresses are the registry's own.
if ! cmp -s tests/clients/package-lock.json tests/clients/node_modules/.tackle-lock 2>/dev/null; then
  (cd tests/clients && npm install --no-save --no-audit --no-fund --loglevel=error)
  cp tests/clients/package-lock.json tests/clients/node_modules/.tackle-lock
fi

n=0
for script in tests/clients/*.sh; do
  name=$(basename "$script" .sh)
  [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
  top=$(mktemp -d)
  mkdir "$top/ws"
  export WS="$top/ws" STATE="$top/state"
  if bash "$script"; then
    echo "client $name: ok"
  else
    echo "client $name: FAILED (workspace kept in $top)" >&2
    exit 1
  fi
  rm -rf "$top"
  n=$((n + 1))
done
[ "$n" -gt 0 ] || { echo "clients: no client ran" >&2; exit 1; }
