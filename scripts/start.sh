#!/bin/sh
# `npm start`: installs what is missing, builds the programs, and replaces itself with the platform, which gets signals.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
# Node keeps compiled code here for the next start.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/compile}"
node scripts/build.ts --programs
# V8 does not return the memory of its young generation, which thousands of new connections let grow to twice this limit.
exec node --max-semi-space-size=16 packages/server/dist/narthex-platform.js
