/**
 * An organization with the callers and objects of the matrix, a second project, and a foreign organization. It is
 * written through the ports, and each part only when a cell needs it: a cell that may change something gets a world of
 * its own.
 */
import {
  AccountStore,
  type ApiKeyId,
  ApiKeyStore,
  type Branch,
  BranchId,
  type BranchRole,
  BranchRoleStore,
  BranchStore,
  type Capability,
  type Endpoint,
  EndpointStore,
  InvitationStore,
  IpAllowlistStore,
  KeyDigester,
  makeKeySecret,
  makeRule,
  OperationStore,
  type OrgId,
  type Project,
  type ProjectId,
  ProjectStore,
  RegionId,
  type Scope,
  SessionStore,
  type StoredInvitation,
  type StoredOperation,
  type StoredWebhook,
  TokenSigner,
  type User,
  WebhookStore
} from "@narthex/core"
import {
  aBranch,
  aMembership,
  anEndpoint,
  anInvitation,
  anOperation,
  anOrganization,
  aProject,
  aSession,
  aStoredKey,
  aText,
  at,
  aUser,
  listRule
} from "@narthex/core/testing"
import { DateTime, Duration, Effect, Redacted } from "effect"
import { many, once } from "./memo.ts"
import { rolesOf } from "./worldRoles.ts"
import { webhooksOf } from "./worldWebhooks.ts"

/** Which branch of a project. */
export type On = "child" | "sibling" | "agent" | "main" | "protected"

const kinds: Record<On, Partial<Branch>> = {
  main: { default: true },
  protected: { protected: true },
  child: {},
  sibling: {},
  agent: { made_by_agent: true }
}

/** Every project lists this network. */
export const listed = "10.0.0.0/8"

const region_id = RegionId.make("local")

export interface Tree {
  readonly project_id: ProjectId
  readonly branch_id: BranchId
  readonly endpoint_id: string
  readonly operation_id: string
}

/** The objects of the world, as they were made. */
export interface Inventory {
  readonly projects: Array<Project>
  readonly branches: Array<Branch>
  readonly endpoints: Array<Endpoint>
  readonly operations: Array<StoredOperation>
  readonly keys: Array<{ readonly org: OrgId; readonly id: ApiKeyId }>
  readonly invitations: Array<StoredInvitation>
  readonly roles: Array<BranchRole>
  readonly webhooks: Array<StoredWebhook>
}

/** `disabled`: every account is. */
export const makeWorld = Effect.fnUntraced(function* ({ disabled = false }: { readonly disabled?: boolean } = {}) {
  const accounts = yield* AccountStore
  const branches = yield* BranchStore
  const endpoints = yield* EndpointStore
  const allowlist = yield* IpAllowlistStore
  const invitations = yield* InvitationStore
  const digester = yield* KeyDigester
  const keyStore = yield* ApiKeyStore
  const operations = yield* OperationStore
  const projects = yield* ProjectStore
  const sessions = yield* SessionStore
  const signer = yield* TokenSigner
  const now = yield* DateTime.now

  const made: Inventory = {
    ...{ projects: [], branches: [], endpoints: [], operations: [] },
    ...{ keys: [], invitations: [], roles: [], webhooks: [] }
  }

  const organization = Effect.fnUntraced(function* () {
    const record = anOrganization({ name: aText("org") })
    yield* Effect.orDie(accounts.putOrganization(record))
    return record.id
  })

  /** Signed in, with a personal organization and a role in this one; `null`: no longer a member. */
  const person = Effect.fnUntraced(function* (
    org: OrgId,
    role: string | null,
    rest: { readonly pending?: boolean } = {}
  ) {
    const user = aUser({
      email: `${aText("p").replace(" ", "")}@example.com`,
      enabled_at: rest.pending ? null : at(0),
      disabled_at: disabled ? at(1) : null
    })
    const session = aSession(user.id, { active_org_id: org, signed_in_at: now, refreshed_at: now })
    const personal = anOrganization({ id: user.id as unknown as OrgId, personal: true })
    yield* accounts.putUser(user)
    yield* accounts.putOrganization(personal)
    yield* accounts.putMembership(aMembership(personal.id, user.id, { role: "owner" }))
    if (role !== null) yield* accounts.putMembership(aMembership(org, user.id, { role }))
    yield* sessions.insert(session)
    const seconds = Math.floor(now.epochMilliseconds / 1000)
    const token = yield* signer.sign({
      sub: user.id,
      sid: session.id,
      org_id: org,
      role: role ?? "owner",
      auth_time: seconds,
      iat: seconds,
      exp: seconds + 900,
      jti: aText("jti"),
      gen: session.generation
    })
    return {
      user,
      org_id: org,
      session_id: session.id as string,
      token: Redacted.value(token),
      personal_id: personal.id as string
    }
  }, Effect.orDie)

  const makeKey = Effect.fnUntraced(function* (user: User, org: OrgId, capability: Capability, scope: Scope) {
    const secret = yield* makeKeySecret
    const [present] = yield* digester.digests(secret)
    const named = { name: aText("key"), capability, scope, created_by: user.ref }
    const stored = aStoredKey(named, { org_id: org, secrets: [{ ...present, dies_at: null }] })
    yield* keyStore.insert(stored)
    made.keys.push({ org, id: stored.key.id })
    return { id: stored.key.id as string, secret: Redacted.value(secret) }
  }, Effect.orDie)

  /** Memoized by purpose: the key that calls and the key that is named in the path are different. */
  const keysMade = new Map<string, ReturnType<typeof makeKey>>()
  const key = (purpose: string, ...which: Parameters<typeof makeKey>): ReturnType<typeof makeKey> => {
    const [user, home, capability, scope] = which
    const name = JSON.stringify([purpose, user.id, home, capability, scope])
    const found = keysMade.get(name) ?? once(makeKey(...which))
    keysMade.set(name, found)
    return found
  }

  const branchOf = Effect.fnUntraced(function* (org: OrgId, record: Project, on: On) {
    const { default_branch_id: main, id } = record
    const parent_id = on === "main" ? null : main
    const own = on === "main" ? { id: main } : {}
    const branch = aBranch(id, { region_id, parent_id, name: aText("b").replace(" ", "-"), ...kinds[on], ...own })
    const endpoint = anEndpoint(id, branch.id, { region_id, type: "read_write" })
    const times = { created_at: at(0), updated_at: at(0), started_at: at(0), finished_at: at(0) }
    const operation = anOperation(id, branch.id, { org_id: org, status: "cancelled", ...times })
    yield* branches.put(branch)
    yield* endpoints.put(endpoint)
    yield* operations.insert(operation)
    made.branches.push(branch)
    made.endpoints.push(endpoint)
    made.operations.push(operation)
    const tree: Tree = {
      project_id: id,
      branch_id: branch.id,
      endpoint_id: endpoint.id,
      operation_id: operation.id
    }
    return tree
  }, Effect.orDie)

  /** A project with the branches that are asked for. */
  const project = (org: Effect.Effect<OrgId>) => {
    const root = once(
      Effect.gen(function* () {
        const record = aProject({
          org_id: yield* org,
          region_id,
          default_branch_id: BranchId.make(aBranch(aProject().id).id)
        })
        yield* projects.insert(record)
        made.projects.push(record)
        yield* branchOf(record.org_id, record, "main")
        const rule = makeRule({ cidr: listed }, aUser().ref, now)
        yield* Effect.provideService(listRule(record.id, yield* Effect.fromResult(rule)), IpAllowlistStore, allowlist)
        return record
      }).pipe(Effect.orDie)
    )
    return many((on: On) =>
      Effect.gen(function* () {
        const record = yield* root
        if (on !== "main") return yield* branchOf(record.org_id, record, on)
        const [endpoint] = yield* endpoints.ofBranch(record.default_branch_id)
        const { items } = yield* operations.list(
          record.id,
          { branch_id: record.default_branch_id },
          { limit: 1, after: null }
        )
        return {
          project_id: record.id,
          branch_id: record.default_branch_id,
          endpoint_id: (endpoint?.id ?? "") as string,
          operation_id: (items[0]?.id ?? "") as string
        }
      }).pipe(Effect.orDie)
    )
  }

  const aGuest = () => `${aText("guest").replace(" ", "")}@example.com`
  const invite = (org: OrgId, by: User, role: string, email = aGuest()) => {
    const soon = DateTime.addDuration(now, Duration.days(1))
    const record = anInvitation(org, email, { role, invited_by: by.ref, expires_at: soon })
    made.invitations.push(record)
    return invitations.add(record, now).pipe(Effect.orDie, Effect.as(record.id as string))
  }

  const org = yield* Effect.orDie(organization())
  const role = rolesOf(org, made.roles, yield* BranchRoleStore)
  const foreign = once(organization())
  /** Here, or in the foreign organization. */
  const invitation = many((which: `${"here" | "elsewhere"} ${"member" | "owner"}`) =>
    Effect.gen(function* () {
      const role = which.endsWith("owner") ? "owner" : "member"
      if (which.startsWith("here")) return yield* invite(org, (yield* people("second")).user, role)
      return yield* invite(yield* foreign, (yield* stranger).user, role)
    })
  )
  const webhook = webhooksOf({ here: Effect.succeed(org), elsewhere: foreign }, made.webhooks, yield* WebhookStore)
  const people = many((who: "owner" | "second" | "admin" | "member" | "viewer" | "pending" | "former" | "target") => {
    if (who === "pending") return person(org, "owner", { pending: true })
    if (who === "former") return person(org, null)
    return person(org, who === "second" ? "owner" : who === "target" ? "member" : who)
  })
  const stranger = once(Effect.flatMap(foreign, (it) => person(it, "owner")))
  /** An invitation of the owner of this address into the foreign organization. */
  const guest = many((email: string) =>
    Effect.flatMap(stranger, ({ org_id, user }) => invite(org_id, user, "member", email))
  )
  /** A key that ended with its creator's membership. */
  const endedKey = once(
    Effect.gen(function* () {
      const { user } = yield* person(org, "owner")
      const made = yield* makeKey(user, org, "read_write", { type: "organization" })
      yield* accounts.removeMembership(org, user.id)
      yield* keyStore.revokeAll({ org_id: org, user_id: user.id }, "membership_ended", now)
      return { ...made, user }
    }).pipe(Effect.orDie)
  )

  return {
    made,
    org,
    foreign,
    people,
    stranger,
    key,
    endedKey,
    invitation,
    webhook,
    guest,
    role,
    own: project(Effect.succeed(org)),
    other: project(Effect.succeed(org)),
    elsewhere: project(foreign)
  }
})

export type World = Effect.Success<ReturnType<typeof makeWorld>>
