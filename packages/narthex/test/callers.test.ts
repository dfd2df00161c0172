/** Errors begin where the program called (docs/design/client.md L6, docs/design/library.md N22). */
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { type ControlPlane, createControlPlane, NarthexError } from "../src/index.ts"

type Call = (cp: ControlPlane) => unknown

const nowhere = "prj-01m80m4ce8e4h6v2k9t3x7w5qa"

/** Awaits a call that fails, as a program does. */
async function mine(cp: ControlPlane, call: Call): Promise<unknown> {
  try {
    await call(cp)
  } catch (error) {
    return error
  }
  return undefined
}

const failureOf = async (call: Call): Promise<NarthexError> => {
  await using cp = await createControlPlane({ log: "off" })
  const error = await mine(cp, call)
  return error instanceof NarthexError ? error : assert.fail(`It did not fail: ${String(error)}`)
}

/** The lines of the stack that name a function and its place. */
const framesOf = ({ stack }: NarthexError) => (stack ?? "").split("\n").filter((line) => line.startsWith("    at "))

/** Parts of the platform that may run the program's next step. */
const ofPlatform = (frame: string) => frame.includes("node:") || frame.includes("Promise.all")

const first = async <A>(items: AsyncIterable<A>) => {
  for await (const item of items) return item
  return undefined
}

const signedIn = async (cp: ControlPlane) =>
  cp.client(await cp.sessions.start(await cp.people.ensure({ subject: "ada" })))

/** An argument that a program without types may pass. */
const wrong = (value: unknown) => value as never

const calls: Readonly<Record<string, Call>> = {
  "projects.get": (cp) => cp.client().projects.get({ project_id: nowhere }),
  "projects.create": (cp) => cp.client().projects.create({ name: wrong(7) }),
  "projects.list": (cp) => first(cp.client().projects.list.pages()),
  "operations.waitFor": (cp) => cp.operations.waitFor("none"),
  "events.subscribe": (cp) => first(cp.events.subscribe({ org_id: "none" })),
  "events.publish": (cp) => cp.events.publish({ org_id: "none", type: "invoice.paid.v1", data: {} }),
  "people.ensure": (cp) => cp.people.ensure({ subject: wrong(7) }),
  "sessions.start": (cp) => cp.sessions.start("none"),
  "sessions.end": (cp) => cp.sessions.end("none"),
  "sessions.exchange": (cp) => cp.sessions.exchange({ id_token: "none" }),
  "ipAllowlist.permits": (cp) => cp.ipAllowlist.permits(nowhere, "203.0.113.7"),
  authenticate: (cp) => cp.authenticate("none"),
  client: (cp) => cp.client(wrong(7)),
  fetch: (cp) => cp.fetch(wrong(7)),
  transaction: (cp) => cp.transaction({}, async () => {}),
  createControlPlane: () => createControlPlane({ basePath: "nowhere" })
}

describe("where errors begin", () => {
  for (const [name, call] of Object.entries(calls))
    it(`an error of ${name} names the call and begins in the function that awaits it`, async () => {
      const error = await failureOf(call)
      const frames = framesOf(error).filter((frame) => !ofPlatform(frame))
      assert.strictEqual(error.call, name)
      assert.include(error.stack?.split("\n")[0], `${name}: ${error.message}`)
      const before = frames.slice(
        0,
        frames.findIndex((frame) => frame.includes("mine"))
      )
      assert.include(
        frames.find((frame) => frame.includes("mine")),
        "callers.test.ts",
        error.stack
      )
      assert.deepStrictEqual(
        before.filter((frame) => !frame.includes("callers.test.ts")),
        [],
        error.stack
      )
    })

  it("an error of a call that is awaited later begins where it was made", async () => {
    const error = await failureOf(async (cp) => {
      const client = await signedIn(cp)
      const calling = function made() {
        return client.projects.get({ project_id: nowhere })
      }
      const promise = calling()
      await promise.catch(() => {})
      await promise
    })
    assert.include(framesOf(error)[0], "made")
    assert.include(framesOf(error)[0], "callers.test.ts")
  })

  it("an error of a caller's requirement, and of a call of the API that waits, are placed too", async () => {
    const required = await failureOf(async (cp) => {
      const { access_token } = await cp.sessions.start(await cp.people.ensure({ subject: "ada" }))
      const caller = await cp.authenticate(access_token)
      await caller.require("read", { project_id: nowhere })
    })
    const waited = await failureOf(async (cp) =>
      (await signedIn(cp)).operations.waitFor({ project_id: nowhere, id: wrong(7) })
    )
    assert.deepStrictEqual([required.call, waited.call], ["caller.require", "operations.waitFor"])
    for (const error of [required, waited]) assert.include(framesOf(error)[0], "callers.test.ts")
  })

  it("the cause is still the failure of the Effect form", async () => {
    const { cause, code } = await failureOf(async (cp) => (await signedIn(cp)).projects.get({ project_id: nowhere }))
    assert.strictEqual(code, "not_found")
    assert.strictEqual(Object(cause)._tag, "NotFoundProblem")
  })

  it("an error that passes through another call keeps its own place", async () => {
    await using cp = await createControlPlane({ log: "off" })
    const own = await cp.sessions.start("none").catch((error: unknown) => error)
    const client = createClient({ baseUrl: "http://narthex.invalid", fetch: () => Promise.reject(own) })
    const passed = await client.regions.list().catch((error: unknown) => error)
    assert.strictEqual(passed, own)
    assert.strictEqual(passed instanceof NarthexError && passed.call, "sessions.start")
  })
})
