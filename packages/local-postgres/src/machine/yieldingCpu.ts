/**
 * How much nicer a process that works for a tenant is than its supervisor and the store. One of the supervisor counts as
 * nine of them. `sessionGroups` does the same for groups of processes.
 */
export const niceness = 10

/**
 * The command that runs a program so that it yields the CPU. Its children inherit that, and no role of a tenant can
 * change it.
 *
 * Pitfall: changing the priority of a process that was started. On a busy machine it has children by then.
 */
export const yieldingCpu = (command: string, args: ReadonlyArray<string>): [string, ReadonlyArray<string>] => [
  "nice",
  ["-n", String(niceness), command, ...args]
]
