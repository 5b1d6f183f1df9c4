#!/usr/bin/env bash
# in_netns.sh PORT SCRIPT LOG COMMAND…: runs COMMAND with the stand-in model service on PORT, in a network namespace that has
# nothing but loopback: whatever an agent asks for goes there or nowhere. As root.
set -u
if [ "${ARENA_IN_NETNS:-}" != 1 ]; then ARENA_IN_NETNS=1 exec unshare --net -- "$0" "$@"; fi
unset ARENA_IN_NETNS
port=$1 script=$2 log=$3
shift 3
ip link set lo up || exit 1
node "$(dirname "$0")/service.js" "$port" "$script" "$log" >"$log.out" 2>&1 &
service=$!
trap 'kill "$service" 2>/dev/null' EXIT
for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  kill -0 "$service" 2>/dev/null || { cat "$log.out" >&2; exit 1; }
  sleep 0.05
done
"$@"
