/**
 * Requests that come from a session of the host's own (docs/design/library.md N42 to N44).
 * Holds docs/design/identity.md I54.
 */
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import { type ControlPlane, type ControlPlaneOptions, createControlPlane, isNarthexError } from "../src/index.ts"

/** A host whose cookie is `sid=<person>/<id>`. */
const withHost = async (
  work: (cp: ControlPlane, person: string) => Promise<void>,
  options: ControlPlaneOptions = {}
) => {
  await using cp = await createControlPlane({
    log: "off",
    hostSession: async (request) => {
      const [person = "", id = ""] = request.headers.get("cookie")?.replace("sid=", "").split("/") ?? []
      return id === "" ? null : { person, id }
    },
    ...options
  })
  await work(cp, (await cp.people.ensure({ subject: "ada" })).id)
}

const origin = "http://app.example"
const asked = (path: string, cookie: string, init: RequestInit = {}) =>
  new Request(`${origin}${path}`, { ...init, headers: { cookie: `sid=${cookie}`, ...init.headers } })

const project = (headers: Readonly<Record<string, string>>) => ({
  method: "POST",
  body: JSON.stringify({ name: "shop" }),
  headers: { "content-type": "application/json", ...headers }
})

/** Status, and the code of a refusal. */
const outcome = async (answer: Promise<Response>) => {
  const response = await answer
  const body: { readonly code?: string } = response.status === 204 ? {} : await response.json()
  return body.code ?? response.status
}

describe("a session of the host's own", () => {
  it("a caller that is kept is refused by again once its session has ended", () =>
    withHost(async (cp, person) => {
      const { access_token } = await cp.sessions.start(person, { host_session: "1" })
      const caller = await cp.authenticate(access_token)
      assert.strictEqual((await caller.again()).user.id, person)
      await cp.sessions.end({ person, id: "1" })
      await caller.require("read")
      const refused = await caller.again().catch((error: unknown) => error)
      assert.isTrue(isNarthexError(refused) && refused.code === "sign_in_required", String(refused))
    }))

  it("requests of a host's session act with one session, which the host's sign-out ends, with its streams", () =>
    withHost(async (cp, person) => {
      const get = (path: string, cookie = `${person}/1`) => cp.fetch(asked(path, cookie))
      assert.strictEqual((await (await get("/v1/auth/whoami")).json()).user.id, person)
      const started = await cp.sessions.start(person, { host_session: "1" })
      const { sessions } = await cp.client(started).auth.sessions()
      assert.lengthOf(sessions, 1)
      const stream = (await get("/v1/events")).body?.getReader()
      assert.strictEqual(await outcome(get("/v1/auth/whoami", `${person}/2`)), 200)

      await cp.sessions.end({ person, id: "1" })
      await cp.sessions.end({ person, id: "1" })
      assert.strictEqual(await outcome(get("/v1/auth/whoami")), "sign_in_required")
      assert.strictEqual(await outcome(get("/v1/auth/whoami", `${person}/2`)), 200)
      const ended = async () => {
        while (!(await stream?.read())?.done);
      }
      await within("the end of the stream", ended())
      // A session that the host started without an id of its own ends by its token.
      const alone = await cp.sessions.start(person)
      await cp.sessions.end(alone)
      await cp.sessions.end(alone.access_token)
      const signedOut = asked("/v1/auth/whoami", "", { headers: { authorization: `Bearer ${alone.access_token}` } })
      assert.strictEqual(await outcome(cp.fetch(signedOut)), "sign_in_required")
    }))

  it("a change that another site may have sent has no session, for both handlers", () =>
    withHost(async (cp, person) => {
      const server = createServer(cp.node)
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
      const address = server.address()
      const own = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
      const cookie = { cookie: `sid=${person}/1` }
      const overNode = ({ headers, ...init }: ReturnType<typeof project>) =>
        fetch(`${own}/v1/projects`, { ...init, headers: { ...headers, ...cookie } })
      const inProcess = (init: ReturnType<typeof project>) => cp.fetch(asked("/v1/projects", `${person}/1`, init))
      const foreign = [
        {},
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site", origin },
        { origin: "http://evil.example" },
        { origin: "null" }
      ]
      try {
        for (const headers of foreign)
          assert.strictEqual(await outcome(inProcess(project(headers))), "unauthenticated", JSON.stringify(headers))
        assert.strictEqual(await outcome(overNode(project({ origin }))), "unauthenticated")
        for (const headers of [{ "sec-fetch-site": "same-origin" }, { origin }])
          assert.strictEqual(await outcome(inProcess(project(headers))), 201)
        assert.strictEqual(await outcome(overNode(project({ origin: own }))), 201)
        // A request that only reads is safe, and a browser keeps its answer from the other site.
        const read = asked("/v1/projects", `${person}/1`, { headers: { "sec-fetch-site": "cross-site" } })
        assert.strictEqual(await outcome(cp.fetch(read)), 200)
      } finally {
        server.close()
        server.closeAllConnections()
      }
    }))

  it("a credential in the header comes first, and a client of the process has its own or none", () =>
    withHost(async (cp, person) => {
      const header = (authorization: string) =>
        cp.fetch(asked("/v1/regions", `${person}/1`, { headers: { authorization } }))
      assert.strictEqual(await outcome(header("Bearer nsk_x")), "invalid_token")
      assert.strictEqual(await outcome(header("Basic YTpi")), "unauthenticated")
      const anonymous: unknown = await cp
        .client()
        .auth.whoami()
        .catch((error: unknown) => error)
      assert.isTrue(isNarthexError(anonymous) && anonymous.code === "unauthenticated")
      assert.strictEqual(await outcome(cp.fetch(asked("/v1/regions", ""))), "unauthenticated")
      assert.strictEqual(await outcome(cp.fetch(asked("/v1/regions", "unknown/1"))), "invalid_token")
      assert.strictEqual(await outcome(cp.fetch(asked("/v1/regions", "/1"))), "invalid_token")
    }))

  it("an answer for the host's session is stored by no cache, and one for a credential as before", () =>
    withHost(async (cp, person) => {
      const cached = async (answer: Promise<Response>) => {
        const { body, headers } = await answer
        await body?.cancel()
        return headers.get("cache-control")
      }
      for (const cookie of [`${person}/1`, "unknown/1"])
        assert.strictEqual(await cached(cp.fetch(asked("/v1/regions", cookie))), "no-store")
      assert.strictEqual(await cached(cp.fetch(asked("/v1/events", `${person}/1`))), "no-store, no-transform")
      const { access_token } = await cp.sessions.start(person)
      const headers = { authorization: `Bearer ${access_token}` }
      assert.isNull(await cached(cp.fetch(asked("/v1/regions", `${person}/1`, { headers }))))
    }))

  it("an id without a character is no session, and is refused before anything has run", () =>
    withHost(async (cp, person) => {
      // A program without types may return these, too.
      const wrong: ReadonlyArray<{ readonly person: string; readonly id: string }> = [
        { person, id: "" },
        JSON.parse(`{ "person": "${person}" }`),
        JSON.parse(`{ "id": "1" }`)
      ]
      for (const call of [
        () => cp.sessions.start(person, { host_session: "" }),
        ...wrong.map((it) => () => cp.sessions.end(it))
      ]) {
        const failure: unknown = await call().catch((error: unknown) => error)
        assert.isTrue(isNarthexError(failure) && failure.code === "invalid_input", String(failure))
      }
    }))

  it("a function that fails, or answers something else, is an answer of 500", async () => {
    for (const hostSession of [
      () => Promise.reject(new Error("The host's store is gone.")),
      async () => ({ person: "p", id: "" })
    ])
      await withHost(async (cp) => assert.strictEqual((await cp.fetch(asked("/v1/regions", ""))).status, 500), {
        hostSession
      })
  })
})
