#!/usr/bin/env bash
# github.sh FOLDER: run the command of the inputs, and leave annotations, a summary and reports.
set -euo pipefail
program=$1/kumamigrate
reports=$1/reports
mkdir -p "$reports"

lines() { # the lines of a text that hold something, one argument each
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    [ -n "${line//[[:space:]]/}" ] && words+=("$line")
  done <<< "$1"
  return 0
}

words=("$COMMAND")
saved=(markdown=comment.md html=report.html json=report.json sarif=report.sarif github=annotations)
case $COMMAND in
  run) words+=(--dry-run --diff "$reports/plan.patch") ;;
  check) ;;
  prove)
    [ -n "$AGAINST" ] || { echo "::error title=kumamigrate::prove needs the input against"; exit 2; }
    words+=("--against=$AGAINST")
    ;;
  *) echo "::error title=kumamigrate::the input command is run, check or prove"; exit 2 ;;
esac
[ -z "$TARGET" ] || words+=("--target=$TARGET")
lines "$ARGUMENTS"
for one in "${saved[@]}"; do words+=(--output "${one%%=*}=$reports/${one#*=}"); done
words+=(--)
lines "$PATHS"

code=0
"$program" "${words[@]}" || code=$?
echo "exit-code=$code" >> "$GITHUB_OUTPUT"
echo "folder=$reports" >> "$GITHUB_OUTPUT"
[ ! -f "$reports/annotations" ] || cat "$reports/annotations"
[ ! -f "$reports/comment.md" ] || cat "$reports/comment.md" >> "$GITHUB_STEP_SUMMARY"
case $FAIL:$code in
  any:0 | unsafe:[01] | broken:[0134]) ;;
  any:* | unsafe:* | broken:*) exit "$code" ;;
  *) echo "::error title=kumamigrate::the input fail is any, unsafe or broken"; exit 2 ;;
esac
