/** The look at a control group before a start, which `openSlices` then divides. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Why the group cannot be divided, as far as it shows without a change; `undefined`: nothing does. */
export const whyUndividable = (directory: string): string | undefined => {
  const [processes, controllers] = [join(directory, "cgroup.procs"), join(directory, "cgroup.controllers")]
  if (!existsSync(processes)) return "it is no control group"
  if (existsSync(controllers) && !readFileSync(controllers, "utf8").split(/\s/).includes("cpu"))
    return "it does not have the controller `cpu`"
  try {
    accessSync(processes, constants.W_OK)
    return undefined
  } catch {
    return "this account may not divide it"
  }
}
