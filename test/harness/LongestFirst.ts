/** Runs the slowest files first, so that none of them keeps one worker busy at the end. */
import type { TestSpecification } from "vitest/node"
import { BaseSequencer } from "vitest/node"

/** Folders whose tests start processes, and a few slow files elsewhere; the slowest first. */
const long = [
  "/test/journey",
  "/packages/http/test/authorization/postgres",
  "/test/console",
  "/packages/local-postgres/",
  "/test/",
  "/packages/postgres/test/events/",
  "/packages/postgres/test/driver/",
  "/packages/http/test/authorization/",
  "/packages/http/test/events/",
  "/packages/core/test/events/simulation/",
  "/packages/proxy/test/connections/",
  "/packages/postgres/",
  "/packages/cli/test/bundle"
]

const rank = ({ moduleId }: TestSpecification): number => {
  const at = long.findIndex((part) => moduleId.includes(part))
  return at === -1 ? long.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return [...(await super.sort(files))].sort((a, b) => rank(a) - rank(b))
  }
}
