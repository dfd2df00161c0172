/**
 * The commands of a run. If the first argument is the name of a command, they are that command alone, because loading
 * all of them takes longer than most take to run. Help of `narthex` itself, completion and mistyped names need all.
 */
import { Command } from "effect/cli"
import type { narthex } from "./narthex.ts"
import { root, withGlobalFlags } from "./root.ts"

/** Where each command is, except `help`, which describes the others. */
export const commandLoaders = {
  login: async () => (await import("./commands/login.ts")).login,
  logout: async () => (await import("./commands/logout.ts")).logout,
  whoami: async () => (await import("./commands/whoami.ts")).whoami,
  context: async () => (await import("./commands/contexts.ts")).context,
  project: async () => (await import("./commands/projects.ts")).project,
  branch: async () => (await import("./commands/branches.ts")).branch,
  endpoint: async () => (await import("./commands/endpoints.ts")).endpoint,
  operation: async () => (await import("./commands/operations.ts")).operation,
  psql: async () => (await import("./commands/psql.ts")).psql,
  "connection-string": async () => (await import("./commands/connectionString.ts")).connectionString,
  sandbox: async () => (await import("./commands/sandboxes.ts")).sandbox,
  credential: async () => (await import("./commands/credentials.ts")).credential,
  "ip-allow": async () => (await import("./commands/ipAllow.ts")).ipAllow,
  region: async () => (await import("./commands/regions.ts")).region,
  events: async () => (await import("./commands/events.ts")).events,
  org: async () => (await import("./commands/orgs.ts")).org,
  member: async () => (await import("./commands/members.ts")).member,
  invitation: async () => (await import("./commands/invitations.ts")).invitation,
  session: async () => (await import("./commands/sessions.ts")).session,
  "api-key": async () => (await import("./commands/apiKeys.ts")).apiKey,
  open: async () => (await import("./commands/open.ts")).open,
  api: async () => (await import("./commands/rawApi.ts")).rawApi,
  completion: async () => (await import("./commands/completion.ts")).completion,
  version: async () => (await import("./commands/version.ts")).version
}

const isCommand = (name: string | undefined): name is keyof typeof commandLoaders =>
  name !== undefined && Object.hasOwn(commandLoaders, name)

export type CommandTree = typeof narthex

export const commandTree = async ([first]: ReadonlyArray<string>): Promise<CommandTree> => {
  if (!isCommand(first)) return (await import("./narthex.ts")).narthex
  return root.pipe(Command.withSubcommands([await commandLoaders[first]()]), withGlobalFlags)
}
