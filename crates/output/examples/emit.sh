#!/bin/sh
# A tool with two recipients: the model gets every entry, the person a short list.
# SAYSO_EMIT is the program that hands over; it has drained when it returns, so the script may exit at once.
set -eu
count=${1:-3}
model=$(mktemp)
trap 'rm -f "$model"' EXIT
echo "raw progress on stdout"
seq -f 'entry %g: everything the model may be asked about' "$count" >"$model"
{ cat "$model"; printf '%s entries, newest first' "$count"; } |
    ${SAYSO_EMIT:-sayso emit} --purpose listing --model-bytes "$(($(wc -c <"$model")))"
exit 0
