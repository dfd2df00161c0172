/**
 * Sentences about the callers of an endpoint, made from its policy: which credential, which permission and the roles
 * that have it, which capability and scope of an API key (docs/design/authorization.md).
 */
import {
  type Capability,
  type CredentialPolicy,
  effectsOf,
  knownRoles,
  type Policy,
  permissionsOf
} from "@narthex/core"
import { type Raise, type RateLimitName, rateLimits } from "../rules/endpointRules.ts"

const capabilities: ReadonlyArray<Capability> = ["read_write", "read", "agent"]

const listed = (items: ReadonlyArray<string>) =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`

const quoted = (items: ReadonlyArray<string>) => listed(items.map((item) => `\`${item}\``))

const scopes = {
  branch: "of any scope that includes the object",
  project: "whose scope is the project or the organization",
  organization: "whose scope is the organization"
} as const

const agents = {
  any: "",
  never: "",
  not_main: " An `agent` key may not do it to the main branch.",
  made_by_agent: " An `agent` key may do it to branches that an `agent` key created."
} as const

const ofKeys = (policy: CredentialPolicy): string => {
  if (policy.kind === "session") return "API keys are refused: it needs a session."
  if (policy.target === "api_key" && policy.effect === "self") return "An API key may do it to itself alone."
  const allowed = capabilities.filter(
    (capability) => effectsOf[capability].has(policy.effect) && !(capability === "agent" && policy.agent === "never")
  )
  const scope = scopes[policy.reach_main ?? policy.reach]
  return `API keys: ${quoted(allowed)}, ${scope}.${allowed.includes("agent") ? agents[policy.agent] : ""}`
}

const ofRole = ({ permission }: CredentialPolicy): string => {
  if (permission === null) return "No permission is needed."
  const roles = knownRoles.filter((role) => permissionsOf(role).has(permission))
  return `It needs the permission \`${permission}\`, which ${listed(roles.map((role) => `${role}s`))} have.`
}

const ofMember = ({ member, policy, values }: Raise): string => {
  const sent =
    values === undefined
      ? `\`${member}\``
      : `\`${member}: ${values.map((value) => JSON.stringify(value)).join(" | ")}\``
  return `With ${sent}: ${ofRole(policy).replace("It needs", "it needs")} ${ofKeys(policy)}`
}

/** A paragraph. */
export const callersOf = (policy: Policy, raise: Raise | undefined): string => {
  switch (policy._tag) {
    case "Anonymous":
      return "No credential is needed."
    case "OwnToken":
      return "Takes a session token, valid or expired. API keys are refused: it needs a session."
    case "Proxy":
      return "Takes the token of proxies and no credential of a user."
    case "Credential":
      return [ofRole(policy), ofKeys(policy), ...(raise === undefined ? [] : [ofMember(raise)])].join(" ")
  }
}

const counted = {
  address: "client address",
  session: "session",
  user: "user",
  caller: "person or API key, and organization"
} as const

/** The sentence about the endpoint's rate limit. `alone`: the organization's does not count. */
export const limitText = (limit: RateLimitName, alone: boolean): string => {
  const by = rateLimits[limit]
  return `Calls count against the rate limit \`${limit}\`, per ${by === "caller" && alone ? "person or API key" : counted[by]}.`
}
