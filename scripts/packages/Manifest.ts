/** The manifests of the workspace's packages: `packages/<folder>/package.json`. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const root = join(import.meta.dirname, "../..")

/** Where one entry of `exports` leads, by condition; a text leads there under every condition. */
export type ExportTarget = string | Readonly<Record<string, string>>

export type Dependencies = Readonly<Record<string, string>>

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly private?: boolean
  readonly type: string
  readonly sideEffects: boolean
  readonly engines: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, ExportTarget>>
  readonly files: ReadonlyArray<string>
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Dependencies
  readonly optionalDependencies?: Dependencies
  readonly peerDependencies?: Dependencies
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly devDependencies?: Dependencies
  readonly publishConfig: Readonly<Record<string, unknown>>
}

export interface Package {
  /** The name of its folder below `packages`. */
  readonly folder: string
  readonly directory: string
  readonly manifest: Manifest
}

/** Every package that is published, by folder. */
export const publicPackages: ReadonlyArray<Package> = readdirSync(join(root, "packages"))
  .sort()
  .map((folder) => {
    const directory = join(root, "packages", folder)
    return {
      folder,
      directory,
      manifest: JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest
    }
  })
  .filter(({ manifest }) => manifest.private !== true)

/** Programs are published as bundles; every other package as modules. */
export const isProgram = ({ manifest }: Package): boolean => manifest.bin !== undefined
