/** Runs the slowest files first, so that none of them keeps one worker busy at the end. */
import { join, relative } from "node:path"
import type { TestSpecification } from "vitest/node"
import { BaseSequencer } from "vitest/node"

const root = join(import.meta.dirname, "../..")

/**
 * How paths from the root of the repository begin: folders whose tests start processes, and a few slow files elsewhere,
 * the slowest first. A path belongs to the first of them that fits.
 */
export const slowest: ReadonlyArray<string> = [
  "test/storm/",
  "test/journey",
  "packages/http/test/authorization/postgres",
  "test/console",
  "packages/local-postgres/",
  "test/",
  "packages/postgres/test/events/",
  "packages/postgres/test/driver/",
  "packages/http/test/authorization/",
  "packages/http/test/events/",
  "packages/core/test/events/simulation/",
  "packages/proxy/test/end-to-end/",
  "packages/postgres/",
  "packages/cli/test/bundle"
]

/** The place of a file's absolute path in the order, from 0. All files that `slowest` does not name share the last. */
export const rank = (path: string): number => {
  const fromRoot = relative(root, path)
  const at = slowest.findIndex((beginning) => fromRoot.startsWith(beginning))
  return at === -1 ? slowest.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return [...(await super.sort(files))].sort((a, b) => rank(a.moduleId) - rank(b.moduleId))
  }
}
