#!/bin/sh
# `npm start`: installs what is missing, builds the programs, and replaces itself with the platform, which gets signals.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
# Node keeps compiled code here for the next start.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/compile}"
node scripts/build.ts --programs
exec node packages/server/dist/narthex-platform.js
