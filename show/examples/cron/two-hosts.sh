#!/bin/sh
# Two hosts with the same two lines in their crontabs, in one script. Each round is a minute in which cron starts both
# lines on both hosts at once. In the end it counts what ran.
set -eu
export HOLDFAST_STORE="${HOLDFAST_STORE:-redis://127.0.0.1:6379}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# As cron runs them: a file for each host collects what the commands say.
crontab_of() {
  host=$1
  holdfast once --every 24h report -- sh -c "echo 'report by $host' >> ran"
  holdfast run --wait 0 -E 0 sync -- sh -c "echo begin >> sync; sleep 3; echo end >> sync"
}

holdfast once --forget report # of an earlier run of this script
for round in 1 2; do
  crontab_of one > one.log 2>&1 &
  first=$!
  crontab_of two > two.log 2>&1 &
  wait "$first" || { cat one.log; exit 1; }
  wait $! || { cat two.log; exit 1; }
done

reports=$(wc -l < ran)
syncs=$(grep -c begin sync)
overlaps=$(uniq -c sync | awk '$1 > 1' | wc -l)
echo "2 minutes on 2 hosts: $((reports)) report, $((syncs)) syncs, $((overlaps)) of them at the same time"
[ "$reports" -eq 1 ] && [ "$syncs" -ge 2 ] && [ "$overlaps" -eq 0 ]
