/** The start of many tests of the API: a signed-in person, a project that is ready, a check of refusals. */
import { assert } from "@effect/vitest"
import { OperationId, OperationStore, StoredOperation } from "@narthex/core"
import { Effect, Option } from "effect"
import { idToken } from "./apiOver.ts"
import { type Answer, call, type Sent } from "./wire.ts"

let count = 0
/** A unique email address. */
export const address = () => `person${++count}@example.com`

export interface Caller {
  readonly token: string
  readonly email: string
  readonly user_id: string
  readonly org_id: string
  readonly call: (method: string, path: string, sent?: Sent) => ReturnType<typeof call>
}

export const arrive = Effect.fnUntraced(function* (email: string = address()) {
  const { body } = yield* call("POST", "/v1/auth/exchange", { body: { id_token: idToken(email) } })
  const token: string = body.access_token
  return {
    token,
    email,
    user_id: body.user.id,
    org_id: body.organization.id,
    call: (method, path, sent = {}) => call(method, path, { token, ...sent })
  } satisfies Caller as Caller
})

/** The same caller with another credential. */
export const withToken = (who: Caller, token: string): Caller => ({
  ...who,
  token,
  call: (method, path, sent = {}) => call(method, path, { token, ...sent })
})

/** The founder of a team organization, acting in it. */
export const founder = Effect.fnUntraced(function* () {
  const who = yield* arrive()
  const made = yield* who.call("POST", "/v1/orgs", { body: { name: "Team" } })
  const org_id: string = made.body.organization.id
  const switched = yield* who.call("POST", "/v1/auth/switch-org", { body: { org_id } })
  return { ...withToken(who, switched.body.access_token), org_id }
})

/** A person who joined the organization by invitation. */
export const joined = Effect.fnUntraced(function* (owner: Caller, role: string) {
  const email = address()
  const invited = yield* owner.call("POST", `/v1/orgs/${owner.org_id}/invitations`, { body: { email, role } })
  assert.strictEqual(invited.status, 201, invited.text)
  const who = yield* arrive(email)
  assert.strictEqual(who.org_id, owner.org_id)
  return who
})

export const key = Effect.fnUntraced(function* (who: Caller, body: Record<string, unknown> = {}) {
  const made = yield* who.call("POST", "/v1/api-keys", { body: { name: "key", ...body } })
  assert.strictEqual(made.status, 201, made.text)
  return { id: made.body.api_key.id as string, ...withToken(who, made.body.secret) }
})

/** Waits for every operation of an answer. */
export const settled = Effect.fnUntraced(function* (who: Caller, answer: Answer) {
  for (const { id, project_id } of answer.body.operations) {
    const { body } = yield* who.call("GET", `/v1/projects/${project_id}/operations/${id}?wait=10s`)
    assert.strictEqual(body.operation.status, "finished", JSON.stringify(body))
  }
  return answer
})

/** Ends an operation as a runner would, where none works. */
export const finish = Effect.fnUntraced(function* (id: string) {
  const store = yield* OperationStore
  const found = yield* store.lock(OperationId.make(id))
  yield* Effect.forEach(Option.toArray(found), (operation) =>
    store.update(new StoredOperation({ ...operation, status: "finished" }))
  )
}, Effect.orDie)

export interface Place {
  readonly id: string
  readonly path: string
  readonly main: string
  readonly endpoint: string
}

/** A project that is ready. */
export const project = Effect.fnUntraced(function* (who: Caller, name = "shop") {
  const made = yield* settled(who, yield* who.call("POST", "/v1/projects", { body: { name } }))
  const { branch, endpoint, project: record } = made.body
  const place: Place = { id: record.id, path: `/v1/projects/${record.id}`, main: branch.id, endpoint: endpoint.id }
  return place
})

/** A branch that is ready. */
export const branch = Effect.fnUntraced(function* (who: Caller, { path }: Place, body: Record<string, unknown> = {}) {
  const made = yield* settled(who, yield* who.call("POST", `${path}/branches`, { body }))
  return made.body as { branch: { id: string; name: string }; endpoint: { id: string } | null }
})

/** A refusal: its status and code, as a problem of RFC 9457, and no internal detail. */
export const refused = ({ body, headers, status, text }: Answer, wanted: number, code: string) => {
  assert.deepStrictEqual([status, body?.code], [wanted, code], text)
  assert.strictEqual(headers["content-type"], "application/problem+json")
  assert.strictEqual(body.type, `urn:narthex:problem:${code}`)
  assert.strictEqual(body.status, wanted)
  assert.strictEqual(body.request_id, headers["x-request-id"])
  assert.isString(body.title)
  assert.match(body.detail ?? "", /\w/, "a problem has a detail")
  assert.notMatch(text, /at .*\.ts:|select |insert |nsk_[0-9A-Za-z]{49}/i)
}

/** The members that a 422 names. */
export const named = ({ body }: Answer): ReadonlyArray<string> =>
  (body.errors ?? []).map(({ path }: { path: ReadonlyArray<string> }) => path.join("."))
