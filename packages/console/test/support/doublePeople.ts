/** The API double's endpoints of organizations, members, invitations, sessions, single keys and the history of events. */
import { randomUUID } from "node:crypto"
import { ApiKeyRecord, Envelope, InvitationRecord, Member, type ProblemCode, SessionRecord } from "@narthex/api"
import { Schema } from "effect"
import type { Answered } from "./ApiDouble.ts"
import type { DoubleState, Held, Org } from "./DoubleState.ts"
import { credentialView, keyView, organization } from "./doubleViews.ts"

interface Refused {
  readonly refused: ProblemCode
  readonly detail?: string
}

export interface PeopleCall {
  readonly method: string
  readonly url: URL
  readonly body: unknown
  readonly replay_key: string | undefined
}

const viewer = ["read", "mint_read_only", "own_keys", "leave"]
const member = [...viewer, "create_projects", "change_projects", "mint_read_write"]
const admin = [
  ...member,
  "delete_projects",
  "manage_invitations",
  "manage_members",
  "rename_organization",
  "manage_keys"
]
/** What each role may do. */
export const permissionsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  viewer,
  member,
  admin,
  owner: [...admin, "manage_owners", "delete_organization"]
}

const at = "2026-11-20T12:00:00.000Z"
const pagination = { next_cursor: null }
const ok = (body: unknown, status = 200): Answered => ({ status, body })
const none: Answered = { status: 204 }

/** Checks a record by decoding and encoding it. */
const checked =
  <A, I>(schema: Schema.Codec<A, I>) =>
  (wire: unknown): I =>
    Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(wire))

const emailOf = (state: DoubleState, id: string) => [...state.people.values()].find((it) => it.id === id)?.email ?? null

const memberView = (state: DoubleState, user_id: string, role: string) =>
  checked(Member)({ user_id, email: emailOf(state, user_id), name: null, role, joined_at: at })

const invitationView = (org: Org, { email, id, role, status }: Org["invited"][number]) =>
  checked(InvitationRecord)({
    id,
    org_id: org.id,
    email,
    role,
    status,
    invited_by: { id: "0198f3d2-7c1a-7b44-9c55-00000000000a", email: "grace@example.com" },
    created_at: at,
    expires_at: "2026-11-27T12:00:00.000Z",
    accepted_at: null,
    revoked_at: null
  })

const view = (state: DoubleState, org: Org, { person }: Held) => ({
  organization: { ...organization(state, org.id, person), created_at: at, updated_at: at }
})

const isLastOwner = ({ members }: Org, user: string) =>
  members.get(user) === "owner" && [...members.values()].filter((role) => role === "owner").length === 1

const lastOwner = (what: string): Refused => ({
  refused: "conflict",
  detail: `The last owner cannot be ${what}. Make another member an owner first.`
})

const lockout: Refused = {
  refused: "conflict",
  detail: "This would end your own access. Add ?confirm_self_lockout=true to do it anyway."
}

const memberCalls = (
  state: DoubleState,
  org: Org,
  held: Held,
  user: string,
  rest: string,
  { body, method, url }: PeopleCall
): Answered | Refused => {
  const role = org.members.get(user)
  if (role === undefined) return { refused: "not_found" }
  const isSelf = user === held.person.id
  const confirmed = url.searchParams.get("confirm_self_lockout") === "true"
  if (method === "GET" && rest === "/holdings") {
    const keys = [...state.keys.values()].filter((key) => key.org_id === org.id && key.person.id === user)
    const projects = [...state.projects.values()].filter(({ org_id }) => org_id === org.id)
    const credentials = projects.flatMap((project) => project.credentials.map((it) => credentialView(project, it)))
    const api_keys = keys.map(keyView)
    const counts = { api_keys_count: api_keys.length, credentials_count: credentials.length }
    return ok({ holdings: { api_keys, credentials, ...counts } })
  }
  if (method === "PATCH") {
    const wanted = String((body as Record<string, unknown>)["role"])
    if (isLastOwner(org, user) && wanted !== "owner") return lastOwner("demoted")
    if (isSelf && !confirmed) return lockout
    org.members.set(user, wanted)
    return ok({ member: memberView(state, user, wanted) })
  }
  if (isLastOwner(org, user)) return lastOwner("removed")
  if (isSelf && !confirmed) return lockout
  org.members.delete(user)
  return none
}

const invitationCalls = (org: Org, rest: string, { body, method }: PeopleCall): Answered | Refused => {
  if (rest === "" && method === "GET")
    return ok({ invitations: org.invited.map((it) => invitationView(org, it)), pagination })
  if (rest === "") {
    const { email, role = "member" } = body as Record<string, string>
    if (org.invited.some((it) => it.email === email))
      return { refused: "conflict", detail: "There is an open invitation for this address." }
    const invited = { id: randomUUID(), email: String(email), role, status: "pending" }
    org.invited.push(invited)
    return ok({ invitation: invitationView(org, invited) }, 201)
  }
  const [, id, verb] = /^\/([^/]+)(\/resend)?$/.exec(rest) ?? []
  const invited = org.invited.find((it) => it.id === id)
  if (invited === undefined) return { refused: "not_found" }
  if (invited.status === "accepted") return { refused: "conflict", detail: "The invitation was accepted." }
  invited.status = verb === undefined ? "revoked" : "pending"
  return verb === undefined ? none : ok({ invitation: invitationView(org, invited) })
}

const organizationCalls = (
  state: DoubleState,
  org: Org,
  rest: string,
  held: Held,
  call: PeopleCall
): Answered | Refused => {
  const projects = [...state.projects.values()].filter(({ org_id }) => org_id === org.id).length
  switch (`${call.method} ${rest}`) {
    case "GET ":
      return ok(view(state, org, held))
    case "PATCH ":
      org.name = String((call.body as Record<string, unknown>)["name"])
      return ok(view(state, org, held))
    case "DELETE ":
      if (projects > 0) return { refused: "conflict", detail: "The organization has projects. Delete them first." }
      state.orgs.delete(org.id)
      return none
    case "GET /usage":
      return ok({
        usage: [
          { quota: "projects", held: projects, allowed: 10 },
          { quota: "disk_bytes", held: 2 ** 28, allowed: 2 ** 30 }
        ]
      })
    case "GET /members":
      return ok({ members: [...org.members].map(([id, role]) => memberView(state, id, role)), pagination })
  }
  if (rest.startsWith("/invitations")) return invitationCalls(org, rest.slice("/invitations".length), call)
  const [, user, more = ""] = /^\/members\/([^/]+)(\/holdings)?$/.exec(rest) ?? []
  return user === undefined ? { refused: "not_found" } : memberCalls(state, org, held, user, more, call)
}

/** All names of the organization: the pages use those that they need. */
const namesIn = (state: DoubleState, org: string) => {
  const projects = [...state.projects.values()].filter(({ org_id }) => org_id === org)
  return {
    projects: projects.map(({ id, name }) => ({ id, name })),
    branches: projects.flatMap((project) => [
      { id: project.branch_id, name: "main", parent_id: null },
      ...project.branches.map(({ id, name, parent_id }) => ({ id, name, parent_id }))
    ]),
    people: [...(state.orgs.get(org)?.members.keys() ?? [])].map((id) => ({
      id,
      email: emailOf(state, id),
      name: null
    }))
  }
}

const sessionCalls = (state: DoubleState, held: Held, { method, url }: PeopleCall): Answered | Refused => {
  const mine = new Map(
    [...state.held.values()].filter(({ person }) => person === held.person).map((it) => [it.sid, it])
  )
  for (const sid of state.revoked) mine.delete(sid)
  if (method === "GET")
    return ok({
      sessions: [...mine.keys()].map((id) =>
        checked(SessionRecord)({
          id,
          current: id === held.sid,
          provider: "dev-one",
          signed_in_at: at,
          last_refreshed_at: at,
          user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
          address: "192.0.2.7"
        })
      )
    })
  const id = url.pathname.split("/").at(-1) ?? ""
  if (!mine.has(id)) return { refused: "not_found" }
  state.revoked.add(id)
  return none
}

const keyCalls = (state: DoubleState, id: string, held: Held, call: PeopleCall): Answered | Refused => {
  const key = state.keys.get(id)
  if (key === undefined || key.org_id !== held.org) return { refused: "not_found" }
  const api_key = checked(ApiKeyRecord)(keyView(key))
  if (call.method === "GET") return ok({ api_key })
  if (key.person !== held.person) return { refused: "not_found" }
  const replayed = call.replay_key !== undefined && state.replays.has(call.replay_key)
  if (call.replay_key !== undefined) state.replays.set(call.replay_key, id)
  return ok({ api_key, secret: replayed ? null : `nsk_${"r".repeat(49)}` }, 201)
}

/** `undefined`: another endpoint. */
export const peopleCalls = (state: DoubleState, held: Held, call: PeopleCall): Answered | Refused | undefined => {
  const { method, url } = call
  if (url.pathname.startsWith("/v1/auth/sessions")) return sessionCalls(state, held, call)
  if (url.pathname === "/v1/orgs" && method === "POST") {
    const known = state.replays.get(call.replay_key ?? "")
    const org = state.orgs.get(String(known)) ?? state.org(String((call.body as Record<string, unknown>)["name"]))
    org.members.set(held.person.id, "owner")
    if (call.replay_key !== undefined) state.replays.set(call.replay_key, org.id)
    return ok(view(state, org, held), 201)
  }
  if (/^\/v1(\/projects\/[^/]+)?\/events\/history$/.test(url.pathname)) {
    const project = /projects\/([^/]+)/.exec(url.pathname)?.[1]
    const shown = state.events.filter((event) => project === undefined || event["project_id"] === project)
    const events = shown.toReversed().map((event) => checked(Envelope)(event))
    const names = url.searchParams.get("include") === "names" ? { names: namesIn(state, held.org) } : {}
    return ok({ events, pagination, oldest_id: null, complete: true, ...names })
  }
  const key = /^\/v1\/api-keys\/([^/]+)(\/rotate)?$/.exec(url.pathname)?.[1]
  if (key !== undefined && method !== "DELETE") return keyCalls(state, key, held, call)
  const [, id, rest = ""] = /^\/v1\/orgs\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? []
  if (id === undefined) return undefined
  const org = id === held.org ? state.orgs.get(id) : undefined
  return org === undefined ? { refused: "not_found" } : organizationCalls(state, org, rest, held, call)
}
