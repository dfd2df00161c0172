/** The whole tree of commands. */
import { Command } from "effect/cli"
import { apiKey } from "./commands/apiKeys.ts"
import { audit } from "./commands/audit.ts"
import { branch } from "./commands/branches.ts"
import { completion } from "./commands/completion.ts"
import { connectionString } from "./commands/connectionString.ts"
import { context } from "./commands/contexts.ts"
import { credential } from "./commands/credentials.ts"
import { endpoint } from "./commands/endpoints.ts"
import { events } from "./commands/events.ts"
import { help } from "./commands/help.ts"
import { invitation } from "./commands/invitations.ts"
import { ipAllow } from "./commands/ipAllow.ts"
import { login } from "./commands/login.ts"
import { logout } from "./commands/logout.ts"
import { mcp } from "./commands/mcp.ts"
import { member } from "./commands/members.ts"
import { open } from "./commands/open.ts"
import { operation } from "./commands/operations.ts"
import { org } from "./commands/orgs.ts"
import { project } from "./commands/projects.ts"
import { psql } from "./commands/psql.ts"
import { rawApi } from "./commands/rawApi.ts"
import { region } from "./commands/regions.ts"
import { sandbox } from "./commands/sandboxes.ts"
import { session } from "./commands/sessions.ts"
import { size } from "./commands/sizes.ts"
import { version } from "./commands/version.ts"
import { webhook } from "./commands/webhooks.ts"
import { whoami } from "./commands/whoami.ts"
import { root, withGlobalFlags } from "./root.ts"

export const narthex = root.pipe(
  Command.withSubcommands([
    { group: "Get started", commands: [login, logout, whoami, context] },
    {
      group: "Projects",
      commands: [
        project,
        branch,
        endpoint,
        operation,
        psql,
        connectionString,
        sandbox,
        credential,
        ipAllow,
        region,
        size,
        events,
        webhook
      ]
    },
    { group: "People and keys", commands: [org, member, invitation, session, apiKey, audit] },
    { group: "More", commands: [mcp, open, rawApi, completion, help, version] }
  ]),
  withGlobalFlags
)
