/**
 * Cells of the matrix, run over HTTP: row × call × caller × object. A refusal may share a world with others, because it
 * must change nothing; what succeeds gets a world of its own.
 */
import { Api } from "@narthex/api"
import { Context, Effect, Layer } from "effect"
import { type Answer, bytes, call as send } from "../support/wire.ts"
import { type Caller, callerOf, idsOf } from "./caller.ts"
import { wrongEntries } from "./entries.ts"
import { expected, type Side } from "./expectation.ts"
import { narrowOf, type Principal } from "./principals.ts"
import type { Call, Ids, Row } from "./rows/cells.ts"
import { makeWorld, type World } from "./World.ts"

/** The worlds that refusals share. */
export class Worlds extends Context.Service<Worlds, { readonly shared: World; readonly disabled: World }>()(
  "test/Worlds"
) {
  static readonly make = Effect.gen(function* () {
    return Worlds.of({ shared: yield* makeWorld(), disabled: yield* makeWorld({ disabled: true }) })
  })
  static readonly layer = Layer.effect(Worlds, Worlds.make)
}

const endpoints = new Map<string, { readonly method: string; readonly path: string }>(
  Object.entries(Api.groups).flatMap(([group, { endpoints: all }]) =>
    Object.entries(all).map(([name, { method, path }]) => [`${group}.${name}`, { method, path: String(path) }] as const)
  )
)

const letters: Readonly<Record<string, readonly [number, string]>> = {
  a: [403, "alpha_pending"],
  n: [403, "not_a_member"],
  s: [403, "session_required"],
  k: [403, "key_self_only"],
  c: [403, "capability_insufficient"],
  i: [403, "scope_insufficient"],
  r: [403, "role_insufficient"],
  "404": [404, "not_found"],
  "409": [409, "conflict"]
}

/** Whether the caller reaches every item of a filtered list. */
const isFiltered = ({ filtered }: Call, answer: Answer, caller: Caller, principal: Principal, ids: Ids): boolean => {
  const [list = "", member = ""] = filtered ?? []
  const items: ReadonlyArray<Record<string, { readonly id?: string } | string>> = answer.body[list]
  if (items.length === 0) return false
  if (member === "minted")
    return items.every((item) => {
      const by = item["minted_by"]
      return caller.agent ? item["api_key_id"] === caller.key_id : typeof by === "object" && by.id === caller.user?.id
    })
  if (member !== "mine") {
    const [name = "", id = ""] = member.split("=")
    return items.every((item) => item[name] === ids[id])
  }
  return items.every((item) => {
    const by = item["created_by"]
    return narrowOf(principal) === undefined
      ? typeof by === "object" && by.id === caller.user?.id
      : item["id"] === caller.key_id
  })
}

const meets = (wanted: string, { status }: { readonly status: number }, answer: Answer, principal: Principal) => {
  if (wanted === "2" || wanted === "f") return answer.status === status
  if (wanted !== "401") {
    const [refused, code] = letters[wanted] ?? [0, ""]
    return answer.status === refused && answer.body?.code === code
  }
  const code = principal === "-" ? "unauthenticated" : "invalid_token"
  return answer.status === 401 && answer.body?.code === code && answer.headers["www-authenticate"] !== undefined
}

const label = ({ as, call, on }: Call) => [call, as, on].filter((part) => part !== undefined).join(" ")

const cell = Effect.fnUntraced(function* (row: Row, call: Call, principal: Principal, side: Side, disabled: boolean) {
  const wanted = disabled ? "401" : expected(row, call, principal, side)
  if (wanted === "-") return undefined
  const { shared, disabled: ended } = yield* Worlds
  const endpoint = endpoints.get(call.call)
  if (endpoint === undefined) return { side, wanted, wrong: `${call.call} is not a call of the contract.`, bytes: "" }
  const world = disabled ? ended : wanted === "2" && endpoint.method !== "GET" ? yield* makeWorld() : shared
  const caller = yield* callerOf(world, principal, call.on ?? "child")
  const ids = yield* idsOf(world, call, side, caller)
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "") + (call.query ?? "")
  // Refusals are compared by bytes, so they have one request id.
  const request_id = wanted === "2" ? crypto.randomUUID() : "matrix"
  const answer = yield* send(endpoint.method, path, {
    token: caller.token,
    body: call.body?.(ids),
    headers: { "x-request-id": request_id }
  })
  const fine =
    meets(wanted, { status: call.success ?? 200 }, answer, principal) &&
    (wanted !== "f" || isFiltered(call, answer, caller, principal, ids))
  const got = `${answer.status} ${answer.body?.code ?? ""}`
  const left =
    fine && wanted === "2" && answer.status < 300
      ? yield* wrongEntries(call.call, world, caller, answer, request_id)
      : undefined
  const problem = fine ? left : `${got}, not ${wanted}`
  const wrong = problem && `row ${row.row}, ${label(call)}, ${principal}, ${side}: ${problem}`
  return { side, wanted, wrong, bytes: bytes(answer) }
})

/** Refusals of one caller must not tell objects apart. */
const telltale = (row: Row, call: Call, principal: Principal, cells: ReadonlyArray<Ran>): ReadonlyArray<string> =>
  Object.entries(Object.groupBy(cells, ({ wanted }) => wanted)).flatMap(([wanted, same = []]) => {
    const refused = wanted in letters && wanted !== "409" && same.every(({ wrong }) => wrong === undefined)
    const told = refused ? same.find((it) => it.bytes !== same[0]?.bytes) : undefined
    return told === undefined
      ? []
      : [`row ${row.row}, ${label(call)}, ${principal}: ${told.side} differs from ${same[0]?.side} in its ${wanted}`]
  })

interface Ran {
  readonly side: Side
  readonly wanted: string
  readonly wrong: string | undefined
  readonly bytes: string
}

/** One call of a row by one caller, at each of these objects. */
export const runCall = Effect.fnUntraced(function* (
  row: Row,
  call: Call,
  principal: Principal,
  sides: ReadonlyArray<Side>,
  disabled: boolean
) {
  const all = yield* Effect.forEach(sides, (side) => cell(row, call, principal, side, disabled))
  const cells = all.filter((it) => it !== undefined)
  const wrong = cells.flatMap((it) => (it.wrong === undefined ? [] : [it.wrong]))
  return { count: cells.length, wrong: [...wrong, ...telltale(row, call, principal, cells)] }
})
