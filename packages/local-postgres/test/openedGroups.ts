/** CPU control groups for two cores, in a directory that is not divided. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { groupsIn, type OpenCpuGroups } from "../src/machine/CpuGroups.ts"

export const openedIn = (
  directory: string,
  version: 1 | 2 = existsSync(join(directory, "cpu.weight")) ? 2 : 1
): OpenCpuGroups => groupsIn(directory, version, 2)
