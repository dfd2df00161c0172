/**
 * The published part of a package's manifest.
 *
 * The condition `source` is for this repository: tests and tools run from the sources by it. It is not published,
 * because a consumer may resolve its own packages by a condition of the same name, and would compile our sources under
 * its own compiler options. An entry that leads to sources alone is not published either.
 */
import type { ExportTarget, Manifest } from "./Manifest.ts"

/** The condition of `exports` that leads to TypeScript in this repository. */
export const sourceCondition = "source"

const withoutSource = (target: ExportTarget): ExportTarget | undefined => {
  if (typeof target === "string") return target
  const conditions = Object.entries(target).filter(([condition]) => condition !== sourceCondition)
  return conditions.length === 0 ? undefined : Object.fromEntries(conditions)
}

/**
 * The manifest in the tarball: without development dependencies and scripts. `repository` is the URL of the repository
 * that is published from; a registry accepts a provenance statement only for the repository that the manifest names.
 * Without it the manifest asks for no provenance, or `npm publish` of the tarball would fail.
 */
export const publishedManifest = (manifest: Manifest, folder: string, repository?: string) => {
  const { devDependencies, exports, publishConfig, scripts, ...rest } = manifest
  const { provenance, ...unproven } = publishConfig
  return {
    ...rest,
    ...(repository === undefined
      ? {}
      : { repository: { type: "git", url: repository, directory: `packages/${folder}` } }),
    exports: Object.fromEntries(
      Object.entries(exports).flatMap(([entry, target]) => {
        const published = withoutSource(target)
        return published === undefined ? [] : [[entry, published]]
      })
    ),
    publishConfig: repository === undefined ? unproven : { ...unproven, provenance }
  }
}
