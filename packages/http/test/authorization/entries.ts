/**
 * The check of the entries that a successful call left (docs/design/audit.md U1, U2): a change leaves exactly one, a read
 * none.
 */
import { Api, AuditedAs } from "@narthex/api"
import { type AuditAction, AuditLog, OrgId } from "@narthex/core"
import { Context, Effect } from "effect"
import type { Answer } from "../support/wire.ts"
import type { Caller } from "./caller.ts"
import type { World } from "./World.ts"

/** The acts of calls without a credential policy; their services write the entries. */
const ofServices: Readonly<Record<string, AuditAction>> = {
  "auth.exchange": "session.created",
  "auth.logout": "session.ended"
}

/** A refresh changes no right, so it is no act (U4). */
const acts = new Map<string, AuditAction | undefined>(
  Object.entries(Api.groups).flatMap(([group, { endpoints }]) =>
    Object.entries(endpoints).map(([name, { annotations }]) => {
      const id = `${group}.${name}`
      return [id, ofServices[id] ?? Context.get(annotations, AuditedAs)] as const
    })
  )
)

const all = { limit: 1000, after: null }

/** The entries of the request, in whichever of these organizations. */
const entriesOf = Effect.fnUntraced(function* (world: World, caller: Caller, { body }: Answer, request_id: string) {
  const log = yield* AuditLog
  const entered: string = body?.organization?.id ?? world.org
  const homes = new Set([world.org, yield* world.foreign, caller.personal_id, entered])
  const lists = yield* Effect.forEach(homes, (org) => log.list(OrgId.make(org), {}, all))
  return lists.flatMap(({ items }) => items).filter(({ context }) => context.request_id === request_id)
}, Effect.orDie)

export const wrongEntries = Effect.fnUntraced(function* (
  call: string,
  world: World,
  caller: Caller,
  answer: Answer,
  request_id: string
) {
  const found = yield* entriesOf(world, caller, answer, request_id)
  const wanted = acts.get(call)
  const [entry, ...more] = found
  if (wanted === undefined) return entry === undefined ? undefined : `it left ${entry.action}`
  if (entry === undefined || more.length > 0) return `it left ${found.length} entries`
  if (entry.action !== wanted || entry.outcome !== "done") return `it left ${entry.action}, ${entry.outcome}`
  const person = call === "auth.exchange" ? answer.body.user.id : caller.user?.id
  if (entry.actor.user?.id !== person) return "its entry names another person"
  return entry.targets.length === 0 && wanted !== "cli_login.authorized" ? "its entry has no target" : undefined
})
