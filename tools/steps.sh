# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What tools/setup, tools/quickstart and tools/test share: places, and steps that say their time.
# Sourced, never run.

set -euo pipefail

TENON_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# Several checkouts may share one folder of dependencies.
export TENON_DEPS="${TENON_DEPS:-$TENON_ROOT/.deps}"
TENON_BUILD="${TENON_BUILD:-$TENON_ROOT/build}"
TENON_JOBS="${TENON_JOBS:-$(nproc)}"

if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then
  bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' dim='' plain=''
fi

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# step TITLE COMMAND...   runs COMMAND, says before what it does and after how long it took.
step() {
  local title="$1" begin=$SECONDS rc
  shift
  say "${bold}==> $title${plain}"
  # A subshell of its own, since errexit is off in whatever runs under `if` or `||`.
  set +e
  (set -e; "$@")
  rc=$?
  set -e
  if ((rc != 0)); then
    say "    failed after $((SECONDS - begin)) s (exit code $rc)" >&2
    return "$rc"
  fi
  say "    ${dim}done in $((SECONDS - begin)) s${plain}"
}

# skip TITLE   says that a step has nothing left to do.
skip() { say "${dim}==> $1: nothing to do${plain}"; }

# quiet LOG COMMAND...   keeps the output in LOG and shows its end only on failure.
quiet() {
  local log="$1"
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    say "    the whole output is in $log" >&2
    return 1
  fi
}

# configureAndBuild TARGET...   configures the release build where that was not done, and builds what is out of date of the targets.
configureAndBuild() {
  if [[ -f "$TENON_BUILD/build.ninja" ]]; then
    skip "configure"
  else
    step "configure" quiet "$TENON_BUILD/log/configure.log" \
      cmake -S "$TENON_ROOT" --preset release -B "$TENON_BUILD" -DTENON_DEPS="$TENON_DEPS"
  fi
  if ninja -C "$TENON_BUILD" -n "$@" | grep -q 'no work to do'; then
    skip "build"
  else
    step "build with $TENON_JOBS jobs" runNinja "$@"
  fi
}

# The whole output is in the log, its end is shown where the build fails.
runNinja() {
  local log="$TENON_BUILD/log/build.log"
  mkdir -p "$(dirname "$log")"
  if ! NINJA_STATUS='[%f/%t %e] ' ninja -C "$TENON_BUILD" -j "$TENON_JOBS" "$@" 2>&1 | "$TENON_ROOT/tools/progress.py" "$log"; then
    grep -A 40 -m 1 '^FAILED' "$log" >&2 || tail -n 40 "$log" >&2
    say "    the whole output is in $log" >&2
    return 1
  fi
}
