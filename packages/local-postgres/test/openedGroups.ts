/** CPU control groups in a directory that is not divided. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { OpenCpuGroups } from "../src/machine/CpuGroups.ts"

export const openedIn = (
  directory: string,
  version: 1 | 2 = existsSync(join(directory, "cpu.weight")) ? 2 : 1
): OpenCpuGroups => ({
  copies: join(directory, "copies"),
  of: (cluster) => join(directory, cluster),
  version,
  starting: new Set(),
  busy: new Set(),
  attended: new Map(),
  left: new Set()
})
