#!/bin/bash
# This test checks how .ci/run sums up what scripts/test did. Here scripts/test is replaced by a
# program that writes a log of tests, and ends as a run does that passed, failed, was cut off, or
# could not be made.
# Usage: ci_run_test.sh ROOT
set -euo pipefail
source_root=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

mkdir -p "$here/.ci" "$here/scripts" "$here/build-test" "$here/build-sanitize" \
  "$here/build-sanitize-thread"
cp "$source_root/.ci/run" "$here/.ci/run"

# This program writes what results/KIND has as the log of that kind's tests, and ends with the
# status that status/KIND has.
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

# record RESULT SECONDS: prints a line of such a log, of a test that has ended with status 6. What a
# test has printed may look like a result.
record() {
  printf '{"name": "x", "stdout": "\\"result\\": \\"FAIL\\"\\nthe last line", "result": "%s", ' "$1"
  printf '"starttime": 1.5, "duration": %s, "returncode": 6}\n' "$2"
}

# expect LAST_LINE STATUS KIND KIND_STATUS RECORD...: runs .ci/run where the tests of KIND leave the
# log RECORD... and end with KIND_STATUS. Fails unless the last line is LAST_LINE and the status is
# STATUS. In every other kind of build, two tests pass.
expect() {
  local last=$1 status=$2 kind=$3 kind_status=$4 found=0 other
  shift 4
  mkdir -p "$here/results" "$here/status"
  for other in build-test build-sanitize build-sanitize-thread; do
    { record OK 1.0; record OK 2.0; } >"$here/results/$other"
    echo 0 >"$here/status/$other"
  done
  echo "$kind_status" >"$here/status/$kind"
  printf '%s\n' "$@" >"$here/results/$kind"
  "$here/.ci/run" >"$here/output" 2>&1 || found=$?
  if [ "$(tail -n 1 "$here/output")" != "$last" ] || [ $found -ne "$status" ]; then
    echo "expected \"$last\" and status $status, got status $found and:" >&2
    cat "$here/output" >&2
    exit 1
  fi
}

# expect_text TEXT: fails unless the last run has printed TEXT.
expect_text() {
  grep -qF -- "$1" "$here/output" || {
    echo "expected the text \"$1\" in:" >&2
    cat "$here/output" >&2
    exit 1
  }
}

# Four suites run under ThreadSanitizer, and each of them writes the same log here.
thread=build-sanitize-thread
expect "8 passed, 0 failed" 0 $thread 0 "$(record OK 1.0)"
expect_text "What ran: plain, sanitizers, ThreadSanitizer on thread team, ThreadSanitizer on actors"
expect_text "here: none."
expect "4 passed, 4 failed" 1 $thread 1 "$(record FAIL 1.0)"
expect_text "$thread: x: FAIL after 1.0 s with status 6, the last line"
expect "4 passed, 4 failed" 1 $thread 1 "$(record TIMEOUT 900.0)"
expect "4 passed, 4 failed" 1 $thread 1
expect_text "ended with status 1, and 0 tests passed"
# This machine cannot run ThreadSanitizer.
expect "4 passed, 0 failed" 0 $thread 77
# The runs are cut off while ThreadSanitizer's programs are built, while a test runs, and while a
# test hangs.
expect "4 passed, 0 failed" 0 $thread 124
expect "8 passed, 0 failed" 0 $thread 124 "$(record OK 1.0)" "$(record INTERRUPT 59.9)"
expect_text "here: ThreadSanitizer on thread team after 1 tests,"
expect "4 passed, 0 failed" 0 $thread 137 "$(record INTERRUPT 599.9)"
expect "8 passed, 4 failed" 1 $thread 124 "$(record OK 1.0)" "$(record INTERRUPT 600.1)"
expect "4 passed, 4 failed" 1 $thread 124 "$(record INTERRUPT 1250.0)"
expect_text "$thread: x: INTERRUPT after 1250.0 s with status 6"
# The run is cut off after a test has failed.
expect "4 passed, 4 failed" 1 $thread 124 "$(record FAIL 1.0)" "$(record INTERRUPT 5.0)"
# Something other than the time limit interrupts the run.
expect "4 passed, 4 failed" 1 $thread 1 "$(record INTERRUPT 5.0)"
# The run under the other sanitizers is cut off while a test runs.
expect "11 passed, 0 failed" 0 build-sanitize 124 "$(record OK 1.0)" "$(record INTERRUPT 59.9)"
expect_text "here: sanitizers after 1 tests."
expect "10 passed, 1 failed" 1 build-sanitize 1 "$(record SKIP 0.1)"
# Of the plain run, nothing may be missing.
expect "11 passed, 1 failed" 1 build-test 124 "$(record OK 1.0)" "$(record INTERRUPT 59.9)"
expect "10 passed, 1 failed" 1 build-test 124
expect_text "plain: scripts/test ended with status 124, and 0 tests passed"
expect "10 passed, 1 failed" 1 build-test 2
