/** A consumer's project: a folder outside of this repository, with packed packages installed in it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Package, root } from "../../scripts/packages/Manifest.ts"

/** Milliseconds after which a program counts as hanging: installations wait for a registry. */
const limit = 300_000

export interface Ran {
  /** `null` if it was killed. */
  readonly status: number | null
  readonly output: string
}

/** Runs a program to its end, or kills it after the limit. */
export const run = async (command: string, args: ReadonlyArray<string>, cwd = root): Promise<Ran> => {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout: limit, killSignal: "SIGKILL" })
  let output = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
  const [status] = await once(child, "close")
  return { status, output }
}

/** The name that npm gives the tarball of a package. */
export const tarballOf = ({ manifest: { name, version } }: Package): string =>
  `${name.replace("@", "").replace("/", "-")}-${version}.tgz`

const installedVersion = (name: string): string =>
  JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version

/**
 * A careful consumer's compiler options. Declarations are checked too, and its own packages have a condition `source`.
 */
const compilerOptions = (moduleResolution: "node16" | "bundler") => ({
  target: "es2024",
  lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"],
  types: ["node"],
  module: moduleResolution === "node16" ? "node16" : "esnext",
  moduleResolution,
  customConditions: ["source"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true
})

export class Consumer {
  readonly folder = mkdtempSync(join(tmpdir(), "narthex-consumer-"))

  /** Installs packages from their tarballs in `folder`, and `others` from npm's cache or the registry. */
  async install(packages: ReadonlyArray<Package>, folder: string, others: ReadonlyArray<string>): Promise<void> {
    const dependencies = Object.fromEntries([
      ...packages.map((pack) => [pack.manifest.name, `file:${join(folder, tarballOf(pack))}`]),
      ...others.map((name) => [name, installedVersion(name)])
    ])
    const manifest = { name: "consumer", private: true, type: "module", dependencies }
    writeFileSync(join(this.folder, "package.json"), JSON.stringify(manifest))
    // Optional are Postgres programs of 30 MB, which no test here runs.
    const args = ["install", "--prefer-offline", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"]
    const { output, status } = await run("npm", args, this.folder)
    if (status === 0) return
    const ending = status === null ? `was killed after ${limit / 1_000} seconds` : `ended with ${status}`
    throw new Error(
      `npm install of the tarballs ${ending}. What npm has not cached comes from the registry.\n${output}`
    )
  }

  /** The same with pnpm, which finds the dependencies of a tarball in the registry unless they are overridden. */
  async installWithPnpm(pack: Package, overridden: ReadonlyArray<Package>, folder: string): Promise<Ran> {
    const fileOf = (it: Package) => `file:${join(folder, tarballOf(it))}`
    const dependencies = { [pack.manifest.name]: fileOf(pack), effect: installedVersion("effect") }
    writeFileSync(join(this.folder, "package.json"), JSON.stringify({ name: "consumer", type: "module", dependencies }))
    const overrides = Object.fromEntries(overridden.map((it) => [it.manifest.name, fileOf(it)]))
    // JSON is YAML.
    writeFileSync(join(this.folder, "pnpm-workspace.yaml"), JSON.stringify({ overrides }))
    const args = [
      "exec",
      "--yes",
      "--prefer-offline",
      "--package=pnpm@12.21.0",
      "--",
      "pnpm",
      "install",
      "--no-optional"
    ]
    return run("npm", args, this.folder)
  }

  /**
   * Unpacks the tarballs of packages in `folder`, and links what they depend on, and `others`, to the packages of this
   * checkout: as `install`, without npm and without a registry. Optional peers are missing, as after `npm install`.
   */
  async unpack(packages: ReadonlyArray<Package>, folder: string, others: ReadonlyArray<string>): Promise<void> {
    const place = (name: string) => join(this.folder, "node_modules", name)
    for (const pack of packages) {
      const directory = place(pack.manifest.name)
      mkdirSync(directory, { recursive: true })
      const args = ["-xzf", join(folder, tarballOf(pack)), "-C", directory, "--strip-components=1"]
      const { output, status } = await run("tar", args)
      if (status !== 0) throw new Error(`tar ${args.join(" ")} failed: ${output}`)
      const { dependencies, peerDependencies, peerDependenciesMeta: peers } = pack.manifest
      const needed = Object.keys(peerDependencies ?? {}).filter((name) => peers?.[name]?.optional !== true)
      for (const name of [...Object.keys(dependencies ?? {}), ...needed])
        if (packages.every(({ manifest }) => manifest.name !== name)) this.#link(name, pack.directory)
    }
    for (const name of others) this.#link(name, root)
    writeFileSync(join(this.folder, "package.json"), JSON.stringify({ name: "consumer", type: "module" }))
  }

  /** Links a package that this checkout has installed: for `directory` alone, or for all packages. */
  #link(name: string, directory: string): void {
    const link = join(this.folder, "node_modules", name)
    if (existsSync(link)) return
    mkdirSync(dirname(link), { recursive: true })
    const own = join(directory, "node_modules", name)
    symlinkSync(existsSync(own) ? own : join(root, "node_modules", name), link)
  }

  /** Takes a program of `test/packages/consumer` into the project. */
  add(file: string): void {
    cpSync(join(root, "test/packages/consumer", file), join(this.folder, file))
  }

  /** Saves a program of this text. */
  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text)
  }

  /** Type-checks the project's programs with the compiler of this repository. */
  async checkTypes(moduleResolution: "node16" | "bundler"): Promise<Ran> {
    const file = join(this.folder, `tsconfig.${moduleResolution}.json`)
    writeFileSync(file, JSON.stringify({ compilerOptions: compilerOptions(moduleResolution), include: ["*.ts"] }))
    return run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", file], this.folder)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
