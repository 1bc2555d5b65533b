# The inspector's command line: lists the tools, finds no schema that a client would refuse, calls tools, and sees an
# error as an error.
set -euo pipefail
inspect() {
  tests/clients/node_modules/.bin/mcp-inspector --cli --format json "$@" -- "$TACKLE" mcp -C "$WS" --state "$STATE" --no-config
}
want() { # want TEXT: standard input holds it
  local got; got=$(cat)
  case "$got" in *"$1"*) ;; *) printf 'want %s in:\n%s\n' "$1" "$got" >&2; exit 1 ;; esac
}

printf 'hello\nworld\n' > "$WS/a.txt"
tools=$(inspect --strict --method tools/list)
for name in read_file write_file edit multi_edit apply_patch list_dir glob grep delete_file move_file copy_file artifact; do
  want "\"name\":\"$name\"" <<<"$tools"
done
inspect --method tools/call --tool-name read_file --tool-arg path=a.txt | want '1\thello\n2\tworld'
inspect --method tools/call --tool-name edit --tool-arg path=a.txt --tool-arg old_string=world --tool-arg new_string=there | want 'Edited a.txt: 1 replacement at line 2.'
[ "$(cat "$WS/a.txt")" = $'hello\nthere' ] || { echo "the edit is not on disk" >&2; exit 1; }
inspect --method tools/call --tool-name grep --tool-arg pattern=there --tool-arg output_mode=content | want 'a.txt:2:there'
failed=$(inspect --method tools/call --tool-name read_file --tool-arg path=none 2>&1 || true)
want '"isError":true' <<<"$failed"
want 'TOOL ERROR: NOT_FOUND' <<<"$failed"
denied=$(inspect --method tools/call --tool-name write_file --tool-arg path=../out --tool-arg content=x 2>&1 || true)
want 'PERMISSION_DENIED' <<<"$denied"
[ ! -e "$WS/../out" ] || { echo "a denied call wrote" >&2; exit 1; }
