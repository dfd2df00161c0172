#!/bin/sh
# Installs the packages of the lock file, which include the pinned Node runtime, and renders the guides. Skips what is up
# to date.
set -eu
cd "$(dirname "$0")/.."
stamp=node_modules/.narthex-setup
want=$(cksum < package-lock.json)
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$want" ]; then
  echo "Installing dependencies from package-lock.json …" >&2
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  printf '%s' "$want" > "$stamp"
fi
node scripts/guides.ts
