import { createHmac } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { assert, it } from "@effect/vitest"
import { createControlPlane } from "narthex"
import { until } from "../../test/harness/eventually.ts"
import { type Bookmark, relay } from "./relay.ts"

const secret = "shared with the receiver"

/** A receiver that can be down. It keeps what it got, and whether the signature was right. */
const receiver = async () => {
  const got: Array<{ readonly id: string; readonly type: string; readonly signed: boolean }> = []
  const state = { down: false, refused: 0 }
  const take = async (request: IncomingMessage) => {
    const body = await text(request)
    const id = String(request.headers["webhook-id"])
    const signature = `v1,${createHmac("sha256", secret).update(`${id}.${body}`).digest("base64url")}`
    got.push({ id, type: JSON.parse(body).type, signed: request.headers["webhook-signature"] === signature })
  }
  const server = createServer(async (request, response) => {
    if (state.down) state.refused += 1
    else await take(request)
    response.writeHead(state.down ? 503 : 204).end()
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/hook`
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { got, state, url, close }
}

it("a relay delivers every event in order, through a receiver that was down and a restart of its own", async () => {
  await using cp = await createControlPlane()
  const { close, got, state, url } = await receiver()
  try {
    const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
    const client = cp.client(await cp.sessions.start(ada))
    let last: string | undefined
    const bookmark: Bookmark = {
      read: async () => last,
      write: async (id) => {
        last = id
      }
    }
    const start = () => {
      const stop = new AbortController()
      const org_id = ada.personal_org_id
      const onGap = async (reason: string) => assert.fail(reason)
      const done = relay(cp, { org_id, url, secret, bookmark, onGap, signal: stop.signal, pause: 5 })
      return async () => {
        stop.abort()
        await done
      }
    }
    const settled = async (name: string) => {
      const { operations } = await client.projects.create({ name })
      for (const operation of operations) await cp.operations.waitFor(operation)
    }

    const stop = start()
    await settled("first")
    await until("a delivery", () => got.length > 0)
    state.down = true
    await settled("second")
    await until("a refusal", () => state.refused > 1)
    await stop()
    const before = got.length
    state.down = false
    const stopAgain = start()
    await until("what was missed", () => got.length > before && got.at(-1)?.id === last)
    await settled("third")
    await until("three projects", () => new Set(got.map(({ id }) => id)).size >= 3 * Math.max(before, 1))
    await stopAgain()

    const ids = got.map(({ id }) => id)
    assert.deepStrictEqual(ids, [...new Set(ids)].sort(), "each event once and in order")
    assert.isTrue(got.every(({ signed }) => signed))
  } finally {
    close()
  }
})
