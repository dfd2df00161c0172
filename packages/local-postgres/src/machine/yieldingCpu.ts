/**
 * How much nicer a process that serves a tenant is than its supervisor and the store. One of the supervisor counts as
 * nine of them. `sessionGroups` does the same for groups of processes.
 */
export const niceness = 10

/**
 * The same for what the supervisor does for a tenant: it starts a server, and copies data. It counts as three sessions, so
 * that those of other tenants do not keep a server from starting, and as a third of the supervisor, because one tenant may
 * have several of them at once.
 */
export const preparingNiceness = 5

/**
 * The command that runs a program so that it yields the CPU. Its children inherit that, and no role of a tenant can
 * change it.
 */
export const yieldingCpu = (
  command: string,
  args: ReadonlyArray<string>,
  by: number
): [string, ReadonlyArray<string>] => ["nice", ["-n", String(by), command, ...args]]
