/**
 * A whole day of the API, with every secret presented in right and wrong places: no answer but the one that shows it
 * holds one, and no log line, no span and no metric at all.
 */
import { createHash, randomBytes } from "node:crypto"
import { inspect } from "node:util"
import { assert, layer } from "@effect/vitest"
import { makeKeySecret } from "@narthex/core"
import { Cause, Context, Effect, Exit, Layer, Logger, Redacted, References, Tracer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { idToken, memoryApi, proxyToken } from "../support/apiOver.ts"
import { address, arrive, type Caller, founder, project, settled, withToken } from "../support/story.ts"
import { type Answer, call, type Sent } from "../support/wire.ts"

class Heard extends Context.Service<
  Heard,
  { readonly lines: Array<string>; readonly spans: Array<Tracer.NativeSpan> }
>()("test/Heard") {}

const heard = { lines: [] as string[], spans: [] as Tracer.NativeSpan[] }

const listening = Layer.mergeAll(
  Layer.succeed(Heard, heard),
  Logger.layer([
    Logger.make(({ cause, fiber, message }) => {
      const annotations = fiber.getRef(References.CurrentLogAnnotations)
      heard.lines.push(inspect([message, cause, annotations], { depth: 12 }))
    })
  ]),
  Layer.succeed(References.MinimumLogLevel, "All"),
  Layer.succeed(
    Tracer.Tracer,
    Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        heard.spans.push(span)
        return span
      }
    })
  )
)

/** Where a secret was shown, and every other answer. */
interface Told {
  readonly what: string
  readonly text: string
}

const shown = ["secret", "access_token", "password", "connection_uri", "code", "verifier"]

/** Makes calls, and keeps what they answered apart from the secrets that they showed. */
const recorder = () => {
  const secrets = new Set<string>()
  const told: Array<Told> = []
  const keep = (what: string) => (answer: Answer) =>
    Effect.sync(() => {
      const own = shown.flatMap((name) =>
        answer.status < 300 && typeof answer.body?.[name] === "string" ? [answer.body[name] as string] : []
      )
      for (const secret of own) secrets.add(secret)
      // A creation shows its own secret, and may show no other.
      const rest = own.reduce((text, secret) => text.replace(secret, ""), answer.text)
      told.push({ what, text: `${rest} ${JSON.stringify(answer.headers)}` })
    })
  const say = (who: Caller | undefined, method: string, path: string, sent: Sent = {}) =>
    (who === undefined ? call(method, path, sent) : who.call(method, path, sent)).pipe(
      Effect.tap(keep(`${method} ${path}`))
    )
  return { secrets, told, say }
}

const day = Effect.gen(function* () {
  const { say, secrets, told } = recorder()
  const exchanged = yield* say(undefined, "POST", "/v1/auth/exchange", { body: { id_token: idToken(address()) } })
  const first = withToken(yield* founder(), exchanged.body.access_token)
  const made = yield* say(first, "POST", "/v1/orgs", { body: { name: "Team" } })
  const switched = yield* say(first, "POST", "/v1/auth/switch-org", { body: { org_id: made.body.organization.id } })
  const refreshed = yield* say(withToken(first, switched.body.access_token), "POST", "/v1/auth/refresh")
  const who = withToken(first, refreshed.body.access_token)
  const place = yield* project(who)

  const key = yield* say(who, "POST", "/v1/api-keys", { body: { name: "k" }, headers: { "idempotency-key": "k" } })
  yield* say(who, "POST", "/v1/api-keys", { body: { name: "k" }, headers: { "idempotency-key": "k" } })
  const rotated = yield* say(who, "POST", `/v1/api-keys/${key.body.api_key.id}/rotate`, { body: { grace_seconds: 60 } })
  const mine = withToken(who, rotated.body.secret)
  const minted = yield* say(who, "POST", `${place.path}/branches/${place.main}/credentials`, {
    body: { access: "read_write" }
  })
  const asked = { endpoint_id: place.endpoint, role: minted.body.credential.role }
  const resolved = yield* say(undefined, "POST", "/v1/proxy/resolve", { token: proxyToken, body: asked })
  assert.match(resolved.body.verifier, /^SCRAM-SHA-256\$4096:/)
  const box = yield* say(mine, "POST", `${place.path}/sandboxes`)
  yield* settled(who, box)

  const verifier = randomBytes(32).toString("base64url")
  const redirect_uri = "http://127.0.0.1:43210/callback"
  const state = randomBytes(32).toString("base64url")
  const code_challenge = createHash("sha256").update(verifier).digest("base64url")
  const grant = yield* say(who, "POST", "/v1/cli/authorizations", {
    body: { redirect_uri, state, code_challenge, name: "laptop" }
  })
  const trade = { code: grant.body.code, code_verifier: verifier, redirect_uri }
  yield* say(undefined, "POST", "/v1/cli/exchange", { body: { ...trade, code_verifier: state } })
  yield* say(undefined, "POST", "/v1/cli/exchange", { body: trade })
  yield* say(undefined, "POST", "/v1/cli/exchange", { body: trade })

  const unknown = Redacted.value(yield* makeKeySecret)
  secrets.add(unknown).add(verifier).add(state).add(proxyToken)
  for (const secret of [who.token, mine.token, unknown, box.body.password as string]) {
    yield* say(undefined, "GET", "/v1/regions", { token: secret })
    yield* say(undefined, "GET", "/v1/regions", { token: `${secret}x` })
    yield* say(undefined, "GET", `/v1/regions?access_token=${secret}`)
    yield* say(undefined, "GET", "/v1/regions", { headers: { authorization: `Basic ${secret}` } })
    for (const path of ["/v1/auth/refresh", "/v1/auth/logout", "/v1/proxy/resolve"])
      if (secret !== who.token) yield* say(undefined, "POST", path, { token: secret, body: { endpoint_id: "x" } })
    yield* say(undefined, "POST", "/v1/auth/exchange", { body: { id_token: secret, provider: secret } })
    yield* say(undefined, "POST", "/v1/auth/exchange", { body: { id_token: [secret] } })
    for (const path of ["/v1/projects", "/v1/api-keys", "/v1/orgs"]) {
      yield* say(who, "POST", path, { body: { name: [secret] } })
      yield* say(who, "POST", path, { body: { name: secret.repeat(40) } })
      yield* say(who, "POST", path, { raw: `{"name":"${secret}"` })
      yield* say(who, "POST", path, { body: { name: 5, capability: secret, scope: secret } })
    }
    yield* say(who, "POST", `${place.path}/endpoints`, { body: { branch_id: secret } })
    yield* say(who, "GET", "/v1/projects?cursor=x", { headers: { "x-request-id": "same", "narthex-console": secret } })
  }
  const reads = [
    "/v1/auth/whoami",
    "/v1/auth/sessions",
    "/v1/api-keys",
    "/v1/events/history",
    "/v1/projects",
    "/v1/orgs"
  ]
  const inProject = ["", "/branches", "/endpoints", "/operations", "/ip-allow", "/ip-allow/refusals", "/events/history"]
  for (const path of [...reads, ...inProject.map((it) => place.path + it), "/openapi.json"])
    yield* say(who, "GET", path)
  yield* say(undefined, "POST", "/v1/credentials/report", { body: { secret: mine.token } })
  yield* say(mine, "GET", "/v1/regions")
  yield* say(who, "POST", "/v1/auth/logout")
  yield* say(who, "GET", "/v1/regions")
  yield* arrive()
  return { secrets: [...secrets], told }
})

layer(memoryApi().pipe(Layer.provideMerge(listening)), { excludeTestServices: true })("secrets", (it) => {
  it.effect("secrets are shown once, and never logged, traced or in metrics", () =>
    Effect.gen(function* () {
      const { secrets, told } = yield* day
      assert.isAtLeast(secrets.length, 12)
      for (const { text, what } of told) {
        assert.notMatch(text, /nsk_[0-9A-Za-z]{49}/, what)
        for (const secret of secrets) assert.notInclude(text, secret, what)
      }
      const { lines, spans } = yield* Heard
      const traced = spans.map(({ attributes, events, name, status }) => {
        const failure = status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : ""
        return inspect([name, attributes, events, failure], { depth: 12 })
      })
      assert.isNotEmpty(lines)
      assert.isAbove(traced.length, 100)
      const measured = yield* PrometheusMetrics.format()
      assert.include(measured, "events_", "the metrics of the streams")
      for (const text of [...lines, ...traced, measured]) {
        assert.notMatch(text, /nsk_[0-9A-Za-z]{49}/)
        for (const secret of secrets) assert.notInclude(text, secret)
      }
    })
  )
})
