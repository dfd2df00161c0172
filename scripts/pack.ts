/**
 * `npm run pack`: builds every public package and packs it into a tarball. The tarballs are what is tested and
 * published (`npm publish <tarball>`); a package's own folder is never published, because its manifest leads to its
 * sources.
 *
 *   --to <folder>        where the tarballs go; left out: `node_modules/.cache/narthex-tarballs`
 *   --repository <url>   the repository that the manifests name; left out: that of the CI, if it says so
 *   --skip-build         packs what is built, for callers that have built it
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { publicPackages, root } from "./packages/Manifest.ts"
import { stage } from "./packages/stage.ts"

const { GITHUB_REPOSITORY, GITHUB_SERVER_URL } = process.env
const { values } = parseArgs({
  options: {
    to: { type: "string", default: join(root, "node_modules/.cache/narthex-tarballs") },
    repository: {
      type: "string",
      ...(GITHUB_REPOSITORY === undefined ? {} : { default: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` })
    },
    "skip-build": { type: "boolean", default: false }
  }
})

const run = (command: string, args: ReadonlyArray<string>, cwd: string) => {
  const { status } = spawnSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] })
  if (status === 0) return
  console.error(`pack: ${command} ${args.join(" ")} failed`)
  process.exit(1)
}

const folder = resolve(values.to)
const staging = mkdtempSync(join(tmpdir(), "narthex-pack-"))
process.on("exit", () => rmSync(staging, { recursive: true, force: true }))

if (!values["skip-build"]) run(process.execPath, ["scripts/build.ts"], root)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const pack of publicPackages) stage(pack, join(staging, pack.folder), values.repository)
// One call of npm packs them all: npm needs longer for its own start than for a package.
run(
  "npm",
  [
    "pack",
    "--silent",
    "--ignore-scripts",
    "--pack-destination",
    folder,
    ...publicPackages.map((it) => `./${it.folder}`)
  ],
  staging
)
if (values.repository === undefined)
  console.error("pack: no repository is known, so the tarballs ask for no provenance.")
console.log(`pack: ${publicPackages.length} packages in ${folder}`)
