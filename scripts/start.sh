#!/bin/sh
# `npm start`: sets up what is missing, builds what changed, and becomes the platform, so that a signal reaches it.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
node scripts/build.ts
exec node packages/server/dist/main.js
