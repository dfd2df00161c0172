/**
 * Packs every public package, and uses the tarballs as a consumer does: linters of packages, types under both
 * resolutions of modules, programs.
 *
 * A build of every package costs half a minute of a core, so `npm test` has `manifests.test.ts`, which checks manifests
 * against sources. `npm run check` runs what needs no installation of this file, and `npm run test:packages` all of it;
 * CI runs both.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { isProgram, type Package, publicPackages } from "../../scripts/packages/Manifest.ts"
import { long, packed } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { resource } from "../harness/resource.ts"
import { Consumer, run, tarballOf } from "./Consumer.ts"

/** Accepted: CommonJS loads ES modules with `require`, which Node supports, and Node 10 is not supported. */
const esmOnly = (problem: { readonly kind: string; readonly resolutionKind?: string }) =>
  problem.kind === "CJSResolvesToESM" || problem.resolutionKind === "node10"

const libraries = publicPackages.filter((pack) => !isProgram(pack))
const programs = publicPackages.filter(isProgram)

/** The entries of a package that a program can import. */
const entriesOf = ({ manifest: { exports, name } }: Package): ReadonlyArray<string> =>
  Object.keys(exports)
    .filter((entry) => !/[*]|package\.json$/.test(entry))
    .map((entry) => `${name}${entry.slice(1)}`)

const hasOptionalPeer = ({ manifest: { peerDependenciesMeta = {} } }: Package): boolean =>
  Object.values(peerDependenciesMeta).some(({ optional }) => optional === true)

/** A library with the libraries of this repository that npm installs with it. */
const withDependencies = (pack: Package): ReadonlyArray<Package> => {
  const found = new Set([pack])
  for (const { manifest } of found)
    for (const library of libraries)
      if (manifest.dependencies?.[library.manifest.name] !== undefined) found.add(library)
  return [...found]
}

it("a tarball has the name that npm gives it", () => {
  assert.deepStrictEqual(
    libraries.filter(({ folder }) => folder === "core").map(tarballOf),
    libraries.filter(({ folder }) => folder === "core").map(({ manifest }) => `narthex-core-${manifest.version}.tgz`)
  )
})

/** Milliseconds for steps that install packages or check types of a whole project. */
const timeout = 600_000

if (packed)
  describe("tarballs", { timeout }, () => {
    const folder = mkdtempSync(join(tmpdir(), "narthex-tarballs-"))
    const reader = new Consumer()
    const embedder = new Consumer()
    const operator = new Consumer()

    beforeAll(async () => {
      await Promise.all([resource("libraries"), resource("build")])
      const { output, status } = await run(process.execPath, ["scripts/pack.ts", "--skip-build", "--to", folder])
      assert.strictEqual(status, 0, output)
    })
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true })
      reader.remove()
      embedder.remove()
      operator.remove()
    })

    const dataOf = (file: string) => new Uint8Array(readFileSync(join(folder, file)))

    it("publint finds nothing in any tarball", async () => {
      for (const pack of publicPackages) {
        const { messages, pkg } = await publint({ pack: { tarball: dataOf(tarballOf(pack)).buffer } })
        assert.deepStrictEqual(
          messages.map((message) => formatMessage(message, pkg)),
          [],
          pack.folder
        )
      }
    })

    it("the types of every entry resolve where its code resolves", async () => {
      for (const pack of libraries) {
        const result = await checkPackage(createPackageFromTarballData(dataOf(tarballOf(pack))))
        assert.isNotFalse(result.types, pack.folder)
        const problems = "problems" in result ? result.problems.filter((problem) => !esmOnly(problem)) : []
        assert.deepStrictEqual(problems, [], pack.folder)
        const typed = "entrypoints" in result ? Object.keys(result.entrypoints) : []
        for (const entry of Object.keys(pack.manifest.exports)) if (!entry.includes("*")) assert.include(typed, entry)
      }
    })

    it("the programs of a consumer pass the type checker under node16 and bundler, against the unpacked tarballs", async () => {
      await reader.unpack(libraries, folder, ["@types/node"])
      for (const file of ["main.ts", "contracts.ts", "entries.ts"]) reader.add(file)
      const entries = libraries.flatMap(entriesOf)
      const imported = readFileSync(join(reader.folder, "entries.ts"), "utf8")
      assert.deepStrictEqual(
        entries.filter((entry) => !imported.includes(`"${entry}"`)),
        [],
        "entries.ts imports every entry"
      )
      for (const resolution of ["node16", "bundler"] as const) {
        const { output, status } = await reader.checkTypes(resolution)
        assert.strictEqual(status, 0, `${resolution}\n${output}`)
      }
    })

    it("a library without its optional peers passes the type checker with all its entries", async () => {
      for (const pack of libraries.filter(hasOptionalPeer)) {
        const consumer = new Consumer()
        try {
          await consumer.unpack(withDependencies(pack), folder, ["@types/node"])
          consumer.write(
            "entries.ts",
            entriesOf(pack)
              .map((entry) => `export * from "${entry}"\n`)
              .join("")
          )
          const { output, status } = await consumer.checkTypes("node16")
          assert.strictEqual(status, 0, `${pack.folder}\n${output}`)
        } finally {
          consumer.remove()
        }
      }
    })

    if (!long) return

    it("a consumer installs the libraries, and its programs pass the type checker under node16 and bundler", async () => {
      const begun = performance.now()
      await embedder.install(libraries, folder, ["effect", "@effect/platform-node", "@types/node"])
      note(`installed ${libraries.length} libraries in ${((performance.now() - begun) / 1_000).toFixed(0)} s`)
      for (const file of ["main.ts", "contracts.ts"]) embedder.add(file)
      for (const resolution of ["node16", "bundler"] as const) {
        const { output, status } = await embedder.checkTypes(resolution)
        assert.strictEqual(status, 0, `${resolution}\n${output}`)
      }
    })

    it("a consumer's program embeds the core in memory, from the tarballs", async () => {
      const { output, status } = await run(process.execPath, ["main.ts"], embedder.folder)
      assert.strictEqual(status, 0, output)
      const { calls, ...said } = JSON.parse(output)
      assert.deepStrictEqual(said, {
        regions: ["eu-1"],
        problem: 422,
        server: "function",
        storage: "object",
        mounted: 200
      })
      assert.isAbove(calls, 30)
    })

    it("pnpm installs the library with overrides, as the README says", async () => {
      const consumer = new Consumer()
      try {
        for (const pack of libraries.filter(({ manifest }) => manifest.name === "narthex")) {
          const others = withDependencies(pack).filter((it) => it !== pack)
          const installed = await consumer.installWithPnpm(pack, others, folder)
          assert.strictEqual(installed.status, 0, installed.output)
        }
        consumer.write(
          "first.mjs",
          'import { createControlPlane } from "narthex"\nawait (await createControlPlane()).close()\n'
        )
        const { output, status } = await run(process.execPath, ["first.mjs"], consumer.folder)
        assert.strictEqual(status, 0, output)
      } finally {
        consumer.remove()
      }
    })

    it("a consumer runs the contracts of the storage ports with the test runner of Node", async () => {
      const { output, status } = await run(process.execPath, ["--test", "contracts.ts"], embedder.folder)
      assert.strictEqual(status, 0, output)
      assert.match(output, /pass \d{2,}/)
    })

    it("a newcomer's folder has the first programs of the README and the tutorial running, from npm init on", async () => {
      const { output, status } = await run("bash", ["scripts/newcomer.sh", folder])
      assert.strictEqual(status, 0, output)
      const last = ["the tutorial has run", "the command line is installed"]
      for (const step of ["installed", "first\\.mjs has run", "second\\.mts has run", ...last])
        assert.match(output, new RegExp(`^${step} after \\d+ s$`, "m"))
      const done = output.split("\n").filter((line) => / after \d+ s$/.test(line))
      note(`a newcomer: ${done.join(", ")}`)
    })

    it("the installed programs run without the packages that they bundle", async () => {
      const parts = new Set(programs.flatMap(withDependencies))
      await operator.install([...parts], folder, ["effect"])
      const bin = (name: string) => join(operator.folder, "node_modules/.bin", name)
      const help = await run(bin("narthex"), ["help"], operator.folder)
      assert.strictEqual(help.status, 0, help.output)
      const settings = await run(bin("narthex-server"), ["settings"], operator.folder)
      assert.strictEqual(settings.status, 0, settings.output)
      assert.include(settings.output, "NARTHEX_API_URL")
    })
  })
