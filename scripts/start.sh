#!/bin/sh
# `npm start`: installs what is missing, builds what changed, and replaces itself with the platform, which gets signals.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
node scripts/build.ts
exec node packages/server/dist/main.js
