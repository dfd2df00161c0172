/** From the making of a control plane to its end. Holds docs/design/library.md N7 and N9. */
import { spawn } from "node:child_process"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import { toLog } from "../../../test/harness/toLog.ts"
import { createControlPlane, isNarthexError } from "../src/index.ts"

const script = `
  import { createControlPlane } from "narthex"
  const before = process.eventNames().map((name) => [name, process.listenerCount(name)])
  const cp = await createControlPlane()
  const answer = await cp.fetch(new Request("http://localhost/readyz"))
  await cp.close()
  const after = process.eventNames().map((name) => [name, process.listenerCount(name)])
  console.log(JSON.stringify({ status: answer.status, same: JSON.stringify(before) === JSON.stringify(after) }))
`

describe("the life of a control plane", () => {
  it("a process with a closed control plane ends by itself, and its signals are as before", async () => {
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      cwd: resolve(import.meta.dirname, ".."),
      stdio: ["ignore", "pipe", "pipe"]
    })
    toLog(child.stderr)
    let text = ""
    child.stdout.on("data", (chunk) => {
      text += chunk
    })
    const code = await within("the process to end", new Promise((done) => child.once("close", done)))
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(JSON.parse(text), { status: 200, same: true })
  })

  it("a closed control plane answers 503 with a time to come back, and closes once", async () => {
    const cp = await createControlPlane()
    const closing = cp.close()
    assert.strictEqual(cp.close(), closing)
    await closing
    const answer = await cp.fetch(new Request("http://localhost/v1/regions"))
    assert.strictEqual(answer.status, 503)
    assert.strictEqual(answer.headers.get("retry-after"), "1")
    assert.include(await answer.text(), '"code":"unavailable"')
  })

  it("a control plane is closed when its scope is left", async () => {
    let kept: Awaited<ReturnType<typeof createControlPlane>> | undefined
    {
      await using cp = await createControlPlane()
      kept = cp
      assert.strictEqual((await cp.fetch(new Request("http://localhost/readyz"))).status, 200)
    }
    assert.strictEqual((await kept.fetch(new Request("http://localhost/readyz"))).status, 503)
  })

  it("clients of a closed control plane fail at once, and their subscriptions end", async () => {
    const cp = await createControlPlane({ log: "off" })
    const person = await cp.people.ensure({ subject: "user_42" })
    const client = cp.client(await cp.sessions.start(person))
    const following = client.events.subscribe()[Symbol.asyncIterator]()
    assert.strictEqual((await within("the connection", following.next())).value.kind, "connected")
    const rest = (async () => {
      for (;;) if ((await following.next()).done === true) return "the end"
    })()
    await cp.close()
    const codeOf = (call: Promise<unknown>) =>
      within(
        "the refusal",
        call.then(
          () => "nothing",
          (error: unknown) => (isNarthexError(error) ? error.code : String(error))
        )
      )
    assert.strictEqual(await codeOf(rest), "closed")
    assert.strictEqual(await codeOf(client.regions.list()), "closed")
    assert.strictEqual(await codeOf(client.operations.waitFor({ id: "op", project_id: "prj" })), "closed")
  })
})
