/**
 * An AI agent that may change a database, but never the one that people use. Its key can make sandboxes: short-lived
 * copies of a branch with a connection string of their own. On main it reads.
 */
import { type ControlPlane, isNarthexError } from "narthex"

/** The person's part, once: creates a key for the agent, which expires by itself. */
export const keyForAgent = async (person: ReturnType<ControlPlane["client"]>, project_id: string): Promise<string> => {
  const made = await person.apiKeys.create({
    name: "agent",
    capability: "agent",
    scope: `project:${project_id}`,
    expires_in_days: 1
  })
  if (made.secret === null) throw new Error("The secret was shown before.")
  return made.secret
}

export interface Attempt {
  /** How the work went. */
  readonly result: string
  /** Why main could not be changed. */
  readonly main: string
}

/**
 * One task of the agent. `work` gets the connection string of a copy and may do anything with it: the copy ends after an
 * hour, also when this process dies.
 */
export const tryOut = async (
  agent: ReturnType<ControlPlane["client"]>,
  project_id: string,
  work: (connection_uri: string) => Promise<string>
): Promise<Attempt> => {
  const { project } = await agent.projects.get({ project_id })
  const sandbox = await agent.sandboxes.create({ project_id, ttl_seconds: 3600, name: "experiment" })
  for (const operation of sandbox.operations) await agent.operations.waitFor(operation)
  const { connection_uri } = sandbox
  if (connection_uri === null) throw new Error("The connection string was shown before.")
  const result = await work(connection_uri)
  const branch_id = project.default_branch_id
  const refusal = await agent.branches.mint({ project_id, branch_id, access: "read_write" }).then(
    () => "granted",
    (error: unknown) => (isNarthexError(error) ? error.code : Promise.reject(error))
  )
  await agent.branches.delete({ project_id, branch_id: sandbox.branch.id })
  return { result, main: refusal }
}
