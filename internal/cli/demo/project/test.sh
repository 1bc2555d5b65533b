# The tests of bill.sh.
failed=0
check() {
  got=$(sh bill.sh "$1" "$2")
  if [ "$got" != "$3" ]; then
    echo "FAIL: $1 cents for $2 people: want $3 each, got $got"
    failed=1
  fi
}
check 1000 4 250
check 1000 3 334
check 1 1 1
[ "$failed" = 0 ] && echo "all 3 tests pass"
exit "$failed"
