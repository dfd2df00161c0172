/** The caller of a cell, and the objects that the path of its call names. */
import { makeKeySecret, type User } from "@narthex/core"
import { Effect, Redacted } from "effect"
import type { Side } from "./expectation.ts"
import { isKey, narrowOf, type Principal } from "./principals.ts"
import type { Call, Ids, Kind } from "./rows/cells.ts"
import { listed, type On, type Tree, type World } from "./World.ts"

export interface Caller {
  readonly token: string | undefined
  readonly user: User | undefined
  readonly member: boolean
  readonly personal_id: string
  readonly session_id: string
  readonly key_id: string
  readonly agent: boolean
}

const anonymous: Caller = {
  token: undefined,
  user: undefined,
  member: false,
  personal_id: "-",
  session_id: "-",
  key_id: "-",
  agent: false
}

const sessions = {
  P: "pending",
  X: "former",
  O: "owner",
  A: "admin",
  M: "member",
  V: "viewer"
} as const

const capabilityOf = (principal: Principal) =>
  principal.startsWith("KR") ? "read" : principal.startsWith("KA") ? "agent" : "read_write"

const scopeOf = Effect.fnUntraced(function* (world: World, narrow: "KP" | "KB", on: On) {
  const { branch_id, project_id } = yield* world.own(on)
  return narrow === "KP"
    ? ({ type: "project", project_id } as const)
    : ({ type: "branch", project_id, branch_id } as const)
})

/** The caller of a column; narrowed keys are of the project and branch that the call means as its own. */
export const callerOf = Effect.fnUntraced(function* (world: World, principal: Principal, on: On) {
  if (principal === "-") return anonymous
  if (principal === "!") return { ...anonymous, token: Redacted.value(yield* makeKeySecret) }
  if (!isKey(principal)) {
    const who = yield* world.people(sessions[principal as keyof typeof sessions])
    return { ...anonymous, ...who, member: principal !== "X" }
  }
  if (principal === "XK") {
    const { id, secret, user } = yield* world.endedKey
    return { ...anonymous, token: secret, user, key_id: id }
  }
  const creator = yield* world.people(principal === "PK" ? "pending" : "owner")
  const narrow = narrowOf(principal)
  const scope = narrow === undefined ? ({ type: "organization" } as const) : yield* scopeOf(world, narrow, on)
  const key = yield* world.key("caller", creator.user, world.org, capabilityOf(principal), scope)
  return {
    ...anonymous,
    token: key.secret,
    user: creator.user,
    member: true,
    personal_id: creator.personal_id,
    key_id: key.id,
    agent: capabilityOf(principal) === "agent"
  }
})

const uuid = "0198f3d2-7c1a-7b44-9c55-ffffffffffff"
const ulid = "01k3p5q7r9s1t3v5w7x9z0000a"
const inventedProject = { project_id: `prj-${ulid}` }
const invented = { branch_id: `br-${ulid}`, endpoint_id: `ep-${ulid}`, operation_id: uuid }
const malformed = { branch_id: "not-an-id", endpoint_id: "not-an-id", operation_id: "not-an-id" }

const treeOf = Effect.fnUntraced(function* (
  world: World,
  { kind, on = "child" }: Call,
  side: Side
): Effect.fn.Return<Readonly<Record<keyof Tree, string>>> {
  const own: Tree = yield* world.own(on)
  const inOwn = { project_id: own.project_id }
  switch (side) {
    case "own":
      return own
    case "sibling":
      return yield* world.own("sibling")
    case "other":
      return yield* world.other(on)
    case "foreign":
      return yield* world.elsewhere(on)
    case "crossed":
      return { ...(yield* world.other(on)), ...inOwn }
    case "crossedForeign":
      return { ...(yield* world.elsewhere(on)), ...inOwn }
    case "invented":
      return kind === "project" ? { ...own, ...inventedProject } : { ...own, ...invented }
    case "malformed":
      return kind === "project" ? { ...own, project_id: "not-an-id" } : { ...own, ...malformed }
    case "inventedProject":
      return { ...own, ...inventedProject }
    case "malformedProject":
      return { ...own, project_id: "not-an-id" }
  }
})

/**
 * The ids of an object: the caller's own, another person's in the organization, one of a foreign organization, none.
 */
const pick = <A>(side: Side, own: A, other: A, foreign: A, rest: { readonly invented: A; readonly malformed: A }) =>
  side === "own"
    ? own
    : side === "other"
      ? other
      : side === "foreign"
        ? foreign
        : rest[side as "invented" | "malformed"]

const ids = { invented: uuid, malformed: "not-an-id" }

/** Kinds that name people and what is theirs; a world makes none of that for the others. */
const ofPeople = new Set<Kind>([
  "organization",
  "other_org",
  "leave",
  "member",
  "owner_member",
  "invitation",
  "owner_invitation",
  "own_invitation",
  "webhook",
  "session",
  "own_key",
  "key",
  "others_key"
])

const peopleIds = Effect.fnUntraced(function* (world: World, call: Call, side: Side, caller: Caller) {
  const { kind = "none" } = call
  if (!ofPeople.has(kind)) return {}
  const stranger = yield* world.stranger
  const foreign: string = yield* world.foreign
  // An organization always keeps an owner, so that others can leave it or become something else.
  yield* world.people("second")
  switch (kind) {
    case "organization":
      return { org_id: pick(side, world.org as string, caller.personal_id, foreign, ids) }
    case "other_org":
      return { org_id: pick(side, caller.personal_id, "-", foreign, ids) }
    case "leave":
      return { org_id: pick(side, world.org as string, "-", foreign, ids), user_id: caller.user?.id ?? uuid }
    case "member":
    case "owner_member": {
      const { user } = yield* world.people(kind === "member" ? "target" : "second")
      const org_id = side === "foreign" ? foreign : world.org
      return { org_id, user_id: pick<string>(side, user.id, stranger.user.id, stranger.user.id, ids) }
    }
    case "invitation":
    case "owner_invitation": {
      const role = kind === "invitation" ? "member" : "owner"
      const own = yield* world.invitation(`here ${role}`)
      const theirs = yield* world.invitation(`elsewhere ${role}`)
      return { org_id: side === "foreign" ? foreign : world.org, invitation_id: pick(side, own, theirs, theirs, ids) }
    }
    case "webhook": {
      const [own, theirs] = [yield* world.webhook("here"), yield* world.webhook("elsewhere")]
      return { org_id: side === "foreign" ? foreign : world.org, webhook_id: pick(side, own, theirs, theirs, ids) }
    }
    case "own_invitation": {
      // Into an organization of strangers; and one for another person, into the organization of the caller.
      const own = yield* world.guest(caller.user?.email ?? `${uuid}@example.com`)
      const theirs = yield* world.invitation("here member")
      const far = yield* world.invitation("elsewhere member")
      return { invitation_id: pick(side, own, theirs, far, ids) }
    }
    case "session": {
      const target = yield* world.people("target")
      return { session_id: pick(side, caller.session_id, target.session_id, stranger.session_id, ids) }
    }
    case "own_key":
      return { api_key_id: caller.key_id }
    case "key":
    case "others_key": {
      const target = yield* world.people("target")
      const all = { type: "organization" } as const
      const mine = Effect.gen(function* () {
        if (kind === "key" && caller.key_id !== "-") return caller.key_id
        // A caller without a membership in the organization has no key in it.
        if (caller.user === undefined || !caller.member) return (yield* world.endedKey).id
        return (yield* world.key("object", caller.user, world.org, "read_write", all)).id
      })
      const theirs = yield* world.key("object", target.user, world.org, "read_write", all)
      const far = yield* world.key("object", stranger.user, yield* world.foreign, "read_write", all)
      return { api_key_id: pick(side, yield* mine, theirs.id, far.id, { ...ids, invented: `key-${ulid}` }) }
    }
    default:
      return {}
  }
})

const noRoles: Readonly<Record<string, string>> = { invented: "role_0000000000000000", malformed: "not-a-role" }

/** The role that the path names; for lists, the roles that the caller and another person minted. */
const roleIds = Effect.fnUntraced(function* (
  world: World,
  call: Call,
  side: Side,
  caller: Caller,
  tree: Partial<Tree>
) {
  const { filtered, kind } = call
  const wanted = kind === "credential" || kind === "others_credential" || filtered?.[1] === "minted"
  const none = noRoles[side]
  if (!wanted) return {}
  if (none !== undefined) return { role: none }
  const { branch_id = "", project_id = "" } = tree
  const target = yield* world.people("target")
  const key = caller.key_id === "-" ? null : caller.key_id
  const mine = yield* world.role({ branch_id, project_id }, caller.user ?? target.user, key, caller.agent)
  const theirs = yield* world.role({ branch_id, project_id }, target.user, null, false)
  return { role: kind === "others_credential" ? theirs : mine }
})

const address = listed.split("/")

/** Makes objects that a filtered list shows to the caller, and others that it must leave out. */
const furnish = Effect.fnUntraced(function* (world: World, { on = "child" }: Call, caller: Caller) {
  yield* peopleIds(world, { call: "", kind: "key" }, "own", caller)
  yield* world.own("sibling")
  yield* world.other(on)
})

/** Everything that the path and the body of the call take. */
export const idsOf = Effect.fnUntraced(function* (world: World, call: Call, side: Side, caller: Caller) {
  if (call.filtered !== undefined) yield* furnish(world, call, caller)
  // An organization can only be deleted while it has no project.
  const tree = call.kind === "organization" ? {} : yield* treeOf(world, call, side)
  const all: Ids = {
    ...tree,
    org_id: world.org,
    cidr: encodeURIComponent(listed),
    network: address[0] ?? "",
    prefix: address[1] ?? "",
    ...(yield* roleIds(world, call, side, caller, tree)),
    ...(yield* peopleIds(world, call, side, caller))
  }
  return all
})
