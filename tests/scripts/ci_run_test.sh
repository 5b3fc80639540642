#!/bin/bash
# Checks how .ci/run sums up what scripts/test did, which is replaced by a program that writes a log
# of tests and ends as a run does that passed, failed, was cut, or could not be made.
# Usage: ci_run_test.sh ROOT
set -euo pipefail
source_root=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

mkdir -p "$here/.ci" "$here/scripts" "$here/build-test" "$here/build-sanitize" \
  "$here/build-sanitize-thread"
cp "$source_root/.ci/run" "$here/.ci/run"

# Writes what results/KIND says as the log of that kind's tests, and ends with status/KIND.
cat >"$here/scripts/test" <<'END'
#!/bin/bash
case "${1:-}" in
  --sanitize) kind=build-sanitize ;;
  --sanitize=thread) kind=build-sanitize-thread ;;
  *) kind=build-test ;;
esac
mkdir -p $kind/meson-logs
cp "results/$kind" $kind/meson-logs/testlog.json
exit "$(cat "status/$kind")"
END
chmod +x "$here/scripts/test"

# record RESULT SECONDS: a line of such a log. What a test has printed may look like a result.
record() {
  printf '{"name": "x", "stdout": "\\"result\\": \\"FAIL\\"", "result": "%s", ' "$1"
  printf '"starttime": 1.5, "duration": %s, "returncode": 0}\n' "$2"
}

# expect LAST_LINE STATUS THREAD_STATUS RECORD...: runs it with two tests that pass in every other
# kind of build, and compares the last line and its status.
expect() {
  local last=$1 status=$2 found=0
  mkdir -p "$here/results" "$here/status"
  for kind in build-test build-sanitize; do
    { record OK 1.0; record OK 2.0; } >"$here/results/$kind"
    echo 0 >"$here/status/$kind"
  done
  echo "$3" >"$here/status/build-sanitize-thread"
  shift 3
  printf '%s\n' "$@" >"$here/results/build-sanitize-thread"
  "$here/.ci/run" >"$here/output" 2>&1 || found=$?
  if [ "$(tail -n 1 "$here/output")" != "$last" ] || [ $found -ne "$status" ]; then
    echo "expected \"$last\" and status $status, got status $found and:" >&2
    cat "$here/output" >&2
    exit 1
  fi
}

# Four suites run under ThreadSanitizer, and each of them writes the same log here.
expect "8 passed, 0 failed" 0 0 "$(record OK 1.0)"
expect "4 passed, 4 failed" 1 1 "$(record FAIL 1.0)"
expect "4 passed, 4 failed" 1 1 "$(record TIMEOUT 900.0)"
expect "4 passed, 4 failed" 1 1
# A machine that cannot run it.
expect "4 passed, 0 failed" 0 77
# Cut while it was built; while a test ran; and while one hung.
expect "4 passed, 0 failed" 0 124
expect "8 passed, 0 failed" 0 124 "$(record OK 1.0)" "$(record INTERRUPT 59.9)"
expect "4 passed, 0 failed" 0 137 "$(record INTERRUPT 599.9)"
expect "8 passed, 4 failed" 1 124 "$(record OK 1.0)" "$(record INTERRUPT 600.1)"
expect "4 passed, 4 failed" 1 124 "$(record INTERRUPT 1250.0)"
# Cut behind a test that had failed.
expect "4 passed, 4 failed" 1 124 "$(record FAIL 1.0)" "$(record INTERRUPT 5.0)"
# Interrupted by somebody else than the clock.
expect "4 passed, 4 failed" 1 1 "$(record INTERRUPT 5.0)"
grep -q "ThreadSanitizer ran none" "$here/output"
