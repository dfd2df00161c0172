#!/usr/bin/env bash
# What a newcomer does: an empty folder, `npm init`, the install line of the README with the packed tarballs, the first
# program of narthex pasted from its README, run; then its twin with Effect; then the tutorial, as written; then the command
# line, installed by the line of its README. Says after how many seconds each step was done. Fails if a program prints
# something else than its page says.
#
#   bash scripts/newcomer.sh [folder of tarballs]     left out: packs them first, which does not count
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$root/node_modules/.bin:$PATH"

tarballs=${1:-}
project=$(mktemp -d)
packed=$(mktemp -d)
trap 'rm -rf "$project" "$packed"' EXIT
if [ -z "$tarballs" ]; then
  tarballs=$packed
  node "$root/scripts/pack.ts" --to "$tarballs" >&2
fi
tarballs=$(cd "$tarballs" && pwd)
cd "$project"

began=$(date +%s)
after() { echo "$1 after $(($(date +%s) - began)) s"; }

# The command is the README's, of two lines; only the folder is that of the tarballs. bash expands it.
install=$(awk '/^npm install .*\.\.\/tarballs\// { on = 1 } on { print } on && !/\\$/ { exit }' "$root/README.md")
npm init -y >/dev/null
eval "${install//..\/tarballs/$tarballs} --omit=optional --prefer-offline --no-audit --no-fund --loglevel=error" >&2
after "installed"

# The programs of the page that was installed, in its order.
program() { awk -v wanted="$1" '/^```ts$/ { at++; inside = 1; next } /^```$/ { inside = 0 } inside && at == wanted' node_modules/narthex/README.md; }
prints() {
  local said
  said=$(node "$1")
  [ "$said" = "$2" ] || { printf 'newcomer: %s printed\n%s\nand not\n%s\n' "$1" "$said" "$2" >&2; exit 1; }
  after "$1 has run"
}
program 1 >first.mjs
prints first.mjs $'scope_insufficient\ninvalid_token\noperation.updated.v1'
program 2 >second.mts
prints second.mts "This call needs organization; the credential has project. InvalidCredential Event"

# The tutorial: its lines for the shell unchanged, beside a folder of tarballs, and each program as the file that it names.
tutorial="$root/docs/tutorials/service.md"
block() { awk -v opens="\`\`\`$1" -v wanted="$2" '$0 == opens { at++; inside = 1; next } /^```$/ { inside = 0 } inside && at == wanted' "$tutorial"; }
mkdir beside
cd beside
ln -s "$tarballs" tarballs
export npm_config_omit=optional npm_config_prefer_offline=true npm_config_audit=false npm_config_fund=false
eval "$(block sh 1)" >&2
programs=$(grep -c '^```ts$' "$tutorial")
for ((at = 1; at <= programs; at++)); do
  block ts "$at" >service.ts
  node service.ts >/dev/null
done
after "the tutorial has run"

# The command line, into a prefix of this script's own.
eval "$(grep -m 1 '^npm install -g ' "$root/packages/cli/README.md") --prefix $project/global --loglevel=error" >&2
"$project/global/bin/narthex" --version >/dev/null
after "the command line is installed"
