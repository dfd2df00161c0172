/** The organizations of the suite, made over HTTP as their people would. */
import { type Caller, eventuallyMust, must, signIn, textAt } from "./Caller.ts"

export interface Ids {
  readonly project: string
  readonly branch: string
  readonly endpoint: string
}

/** Signs in, creates a team organization, which has full quotas, and works in it. */
export const team = async (api: string, issuer: string, from: string, email: string) => {
  const person = await signIn(api, issuer, from, email)
  return newTeam(person)
}

/** Another team organization of the person. The caller's own session stays in its organization. */
export const newTeam = async (person: Caller): Promise<Caller & { readonly org: string }> => {
  const org = textAt(await must(person, "POST", "/v1/orgs", { name: "team" }), "organization", "id")
  const switched = await must(person, "POST", "/v1/auth/switch-org", { org_id: org })
  return { ...person, token: textAt(switched, "access_token"), org }
}

/** A project with its default branch and endpoint. */
export const newProject = async (caller: Caller, name: string): Promise<Ids> => {
  const created = await must(caller, "POST", "/v1/projects", { name })
  return {
    project: textAt(created, "project", "id"),
    branch: textAt(created, "branch", "id"),
    endpoint: textAt(created, "endpoint", "id")
  }
}

export const credentialsOf = ({ branch, project }: Pick<Ids, "branch" | "project">) =>
  `/v1/projects/${project}/branches/${branch}/credentials`

/** The connection string of a new credential. */
export const mint = async (
  caller: Caller,
  ids: Pick<Ids, "branch" | "project">,
  access: "read_write" | "read_only",
  ttl_seconds?: number
): Promise<string> =>
  textAt(
    await eventuallyMust(caller, "POST", credentialsOf(ids), { access, ttl_seconds: ttl_seconds ?? null }),
    "connection_uri"
  )

export type Capability = "read_write" | "read" | "agent"

export const newKey = async (owner: Caller, capability: Capability) => {
  const made = await must(owner, "POST", "/v1/api-keys/", { name: capability, capability })
  const secret = textAt(made, "secret")
  return { id: textAt(made, "api_key", "id"), secret, caller: { ...owner, token: secret } satisfies Caller }
}

/** Invites a person, who signs in for the first time and works in the organization. */
export const newMember = async (owner: Caller & { readonly org: string }, issuer: string, email: string) => {
  await must(owner, "POST", `/v1/orgs/${owner.org}/invitations`, { email, role: "member" })
  const caller = await signIn(owner.api, issuer, owner.from, email)
  const user = textAt(await must(caller, "GET", "/v1/auth/whoami"), "user", "id")
  return { caller, user }
}

/** The role of a connection string. */
export const roleIn = (uri: string): string => new URL(uri).username
