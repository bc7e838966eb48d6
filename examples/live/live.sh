#!/usr/bin/env bash
# Records the controllers of JobSet on a real API server, and goes through what can be asked of the recording. It takes the command
# (go build -o live .) and an empty folder. The first time it builds the server, which takes a quarter of an hour.
set -euo pipefail
live="$(realpath "$1")"
cd "$2"

# Runs a command that is to end with a certain exit code.
exits() {
	local want="$1" code=0
	shift
	printf '\n$ live %s\n' "$*"
	"$live" "$@" || code=$?
	((code == want)) || { printf 'exit code %d, want %d\n' "$code" "$want"; return 1; }
}

# Record: the JobSet is restarted once, as the first of its Jobs fails every time.
moment="$("$live" record recordings restart)"
printf 'The Jobs were there, and nobody was at work, at %s.\n' "$moment"

# Ask.
exits 0 trace show recordings --object jobset/default/js1
exits 0 trace why recordings jobset/default/js1.status.restarts
exits 0 trace stale recordings
exits 0 trace idle recordings

# Run the reconciles again with the controllers of today, and hold what was recorded against the simulated server.
exits 0 trace replay recordings --system jobset
exits 0 trace validate recordings --system jobset

# Search what could have happened from there: the JobSet can end in two ways.
exits 1 check jobset --from "recordings@$moment" --out found.orr
exits 1 replay found.orr
