/**
 * Bundles the command line and the programs of the server, unless what they are made from and what was made have not
 * changed since. To find that out costs the look at a thousand files, not at their content.
 */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The packages that are bundled, each by its `bundle.ts`, into its `dist`. */
const bundled = ["cli", "server"]

/** Folders of a package that no program is made from. */
const aside = new Set(["dist", "node_modules", "test", "testing"])

const filesBelow = (directory: string, skipped: ReadonlySet<string>): ReadonlyArray<string> =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesBelow(path, skipped)
    return entry.isFile() ? [path] : []
  })

/**
 * A digest of the state of files: their paths, sizes and times. The time is that of the last change of the file itself
 * (`ctime`), which no program can set.
 */
const stateOf = (files: ReadonlyArray<string>): string => {
  const hash = createHash("sha256")
  for (const path of files.toSorted()) {
    const { ctimeNs, size } = statSync(path, { bigint: true })
    hash.update(`${path}\0${size}\0${ctimeNs}\n`)
  }
  return hash.digest("hex")
}

export class Programs {
  readonly #root: string
  readonly #stamp: string

  /** The programs of the repository at `root`, an absolute path. */
  constructor(root: string) {
    this.#root = root
    this.#stamp = join(root, "node_modules/.narthex-programs")
  }

  /** The state of the sources, of the installed packages and of Node. */
  #sources(): string {
    const packages = filesBelow(join(this.#root, "packages"), aside)
    return stateOf([...packages, join(this.#root, "node_modules/.narthex-setup"), process.execPath])
  }

  #results(): string {
    return stateOf(bundled.flatMap((name) => filesBelow(join(this.#root, "packages", name, "dist"), new Set())))
  }

  areUpToDate(): boolean {
    try {
      return readFileSync(this.#stamp, "utf8") === `${this.#sources()}\n${this.#results()}\n`
    } catch {
      return false // A file or a folder is missing, so there is something to build.
    }
  }

  /** Bundles them, both packages at once. Rejects with the name of the package that could not be bundled. */
  async build(): Promise<void> {
    // Taken first: a file that is changed while they are bundled makes them outdated.
    const sources = this.#sources()
    rmSync(this.#stamp, { force: true })
    await Promise.all(bundled.map((name) => this.#bundle(name)))
    writeFileSync(this.#stamp, `${sources}\n${this.#results()}\n`)
  }

  async #bundle(name: string): Promise<void> {
    const script = join(this.#root, "packages", name, "bundle.ts")
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "inherit", "inherit"] })
    const [code] = await once(child, "close")
    if (code !== 0) throw new Error(`packages/${name}/bundle.ts failed`)
  }
}
