/** The clients that the allowlist refused, as the control plane learns of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { mostOfProject } from "../../src/outcomes/PendingRefusals.ts"
import { open, sqlstate, startup, untilClosed, usual } from "../support/clients.ts"
import { role } from "../support/credentials.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id, type MemoryControlPlane, type Startable } from "../support/MemoryControlPlane.ts"

/** A suspended endpoint whose compute must not be started. */
const suspended: Startable = {
  generation: 1,
  running: false,
  address: "",
  start: () => Promise.reject(new Error("The compute was started."))
}

const entries = (control: MemoryControlPlane) => control.refusals.flatMap(({ refusals }) => refusals)
const counted = (control: MemoryControlPlane) => entries(control).reduce((sum, { count }) => sum + count, 0)

/** Waits until so many refusals are reported, and returns the entries. */
const reported = (control: MemoryControlPlane, count: number) =>
  Effect.map(
    eventually(
      `the report of ${count} refusals`,
      Effect.sync(() => counted(control) >= count)
    ),
    () => entries(control)
  )

/** Connects as this user, and returns what the proxy answers. */
const answerTo = (port: number, packet: Buffer) =>
  Effect.promise(async () => {
    const socket = open(port)
    socket.write(packet)
    return (await untilClosed(socket)).toString("latin1")
  })

const as = (user: string) => startup(["user", user], ["options", `endpoint=${endpoint_id}`])

/** A PROXY header of a client with this IPv4 address. */
const from = (...source: ReadonlyArray<number>) =>
  Buffer.from([...Buffer.from("\r\n\r\n\0\r\nQUIT\n"), 0x21, 0x11, 0, 12, ...source, 127, 0, 0, 1, 0, 1, 0, 2])

describe("a proxy of a region", () => {
  for (const [domain, where] of [
    ["db.test", `Connect to ${endpoint_id}.local.db.test.`],
    ["localhost", 'Connect to a proxy of region "local".']
  ] as const)
    it.live(`a refusal of an endpoint of another region names the right host, below ${domain}`, () =>
      Effect.gen(function* () {
        const { control, port } = yield* harness(suspended, { domain, region: "us-1" })
        const answer = yield* answerTo(port, as(role))
        assert.include(answer, "C08004")
        assert.include(answer, `Endpoint "${endpoint_id}" is in region "local", and this proxy serves another one.`)
        assert.include(answer, where)
        // A stranger learns nothing of it.
        yield* control.list("203.0.113.0/24")
        assert.match(yield* answerTo(port, as(role)), /C28000/)
        assert.deepStrictEqual(control.wakes, [])
      })
    )
})

describe("reports of refused clients", () => {
  it.live("a client that is not listed is reported without a wake, and its role only in the form of a minted one", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(suspended)
      yield* control.list("203.0.113.0/24")
      for (const user of ["hunter2", "role_8f3k2m9x1c4v7b0n"]) assert.match(yield* answerTo(port, as(user)), /C28000/)
      // One entry, or two if a report was due between the refusals.
      const found = yield* reported(control, 2)
      assert.strictEqual(counted(control), 2)
      assert.strictEqual(found.at(-1)?.role, "role_8f3k2m9x1c4v7b0n")
      for (const { count: _, first_ms, last_ms, role: __, ...rest } of found) {
        assert.deepStrictEqual(rest, { endpoint_id, address: "127.0.0.1", reason: "address_not_listed" })
        assert.isAtLeast(first_ms, last_ms)
        assert.isAtLeast(last_ms, 0)
      }
      assert.notInclude(JSON.stringify(control.refusals), "hunter2")
      assert.deepStrictEqual(control.wakes, [])
    })
  )

  it.live("a client that the control plane refuses at the wake is reported", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(suspended)
      yield* control.list("127.0.0.0/8")
      control.full = true
      assert.strictEqual(yield* sqlstate(port), "53300")
      // The proxy has not been notified, so only the control plane can refuse.
      control.rules = [{ cidr: "203.0.113.0/24", expires_at: null }]
      assert.strictEqual(yield* sqlstate(port), "28000")
      const [entry] = yield* reported(control, 1)
      assert.deepInclude(entry, { address: "127.0.0.1", reason: "address_not_listed", count: 1 })
      assert.strictEqual(entry?.role, role)
    })
  )

  it.live("a client is reported with another reason when the rules cannot be checked", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(suspended)
      control.listless = true
      assert.strictEqual(yield* sqlstate(port), "57P03")
      const [entry] = yield* reported(control, 1)
      assert.deepInclude(entry, { reason: "rules_unknown", count: 1 })
    })
  )

  it.live("a flood from many addresses is refused while no report is answered, and what is reported is bounded", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(suspended, { trusted: ["127.0.0.1/32"] })
      yield* control.list("203.0.113.0/24")
      control.answersReports = false
      const refused = (n: number) =>
        Effect.map(answerTo(port, Buffer.concat([from(10, 0, n >> 8, n & 255), usual])), (answer) =>
          assert.match(answer, /C28000/)
        )
      yield* refused(0)
      yield* eventually(
        "a report that gets no answer",
        Effect.sync(() => control.refusals.length === 1)
      )
      yield* Effect.forEach(
        Array.from({ length: 300 }, (_, n) => n),
        refused,
        { concurrency: 30 }
      )
      assert.lengthOf(control.refusals, 1)
      control.answersReports = true
    })
  )

  it.live("a proxy that stops reports the refusals that it has not reported", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(suspended, { trusted: ["127.0.0.1/32"] })
      yield* control.list("203.0.113.0/24")
      yield* Effect.forEach(
        Array.from({ length: mostOfProject + 10 }, (_, n) => n),
        (n) => answerTo(port, Buffer.concat([from(10, 0, 0, n), usual])),
        { concurrency: 10 }
      )
      yield* proxy.drain
      for (const { refusals } of control.refusals) assert.isAtMost(refusals.length, mostOfProject)
      assert.isAtLeast(counted(control), mostOfProject)
    })
  )
})
