#!/bin/bash
foo() {
  echo "}"
}
function bar { :; }
if true; then baz() { :; }; fi
usage() {
  cat <<EOF
no() {
EOF
}
deploy-all ()
{
  (cd x && make)
}
one() { echo 1; }
