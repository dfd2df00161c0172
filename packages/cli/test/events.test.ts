import { assert, describe, it } from "@effect/vitest"
import { BranchId, Envelope, OrgId, ProjectId, RegionId } from "@narthex/api"
import { DateTime, Effect, Fiber, Schema } from "effect"
import { eventually, within } from "../../../test/harness/eventually.ts"
import type { ControlPlane } from "./support/ControlPlane.ts"
import { acme, branch, project, shop } from "./support/records.ts"
import { problem } from "./support/replies.ts"
import type { Run } from "./support/runNarthex.ts"
import { signedIn } from "./support/signedIn.ts"

const id = (n: number) => `01JD000000000000000000000${n}`

const envelope = (n: number, type: string, data: Envelope["data"]) =>
  new Envelope({
    id: id(n),
    type,
    source: type.startsWith("operation") ? "operations" : "_broker",
    org_id: OrgId.make(acme),
    project_id: ProjectId.make(shop),
    region_id: RegionId.make("eu"),
    at: DateTime.makeUnsafe("2026-11-20T10:00:00Z"),
    data
  })
const started = envelope(1, "operation.updated.v1", {
  operation_id: "op-1",
  action: "start_compute",
  status: "running"
})
const gap = envelope(2, "resume.gap.v1", { reason: "too_old" })
const overflow = envelope(3, "overflow.v1", { dropped: 7 })

const branchId = BranchId.make("br-01hzx0000000000000000000bb")

/** A terminal's lines for these events, on a plane whose project and branch have names. */
const rowsOf = (frames: ReadonlyArray<Envelope>, columns: number, until: RegExp) =>
  Effect.gen(function* () {
    const { plane, run } = yield* signedIn
    plane.instead = ({ method, path }) => {
      if (method !== "GET" || path.endsWith("/events")) return undefined
      if (path === `/v1/projects/${shop}`)
        return { status: 200, body: { project: project({ id: shop, name: "shop", region: "eu" }) } }
      return path.endsWith(branchId)
        ? { status: 200, body: { branch: { ...branch(shop), name: "preview", id: branchId } } }
        : undefined
    }
    const rows: Array<string> = []
    const running = yield* Effect.forkChild(
      run(["events", "tail"], { onAnswer: (row) => rows.push(row), terminal: true, columns })
    )
    yield* untilStreaming(plane)
    for (const frame of frames) plane.send(frame)
    yield* eventually(
      `${until} in the output`,
      Effect.sync(() => until.test(rows.join("\n")))
    )
    yield* Fiber.interrupt(running)
    return { rows, asked: plane.requests.filter(({ path }) => !path.endsWith("/events")).map(({ path }) => path) }
  })

const untilStreaming = (plane: ControlPlane): Effect.Effect<void> =>
  eventually(
    "a stream to be open on the control plane",
    Effect.sync(() => plane.streams > 0)
  )

/** Sends the frames, and waits until the output matches `until`. */
const tailing = (args: ReadonlyArray<string>, frames: ReadonlyArray<Envelope>, until: RegExp, more: object = {}) =>
  Effect.gen(function* () {
    const { plane, run } = yield* signedIn
    let printed = ""
    let seen = () => {}
    const enough = new Promise<void>((resolve) => {
      seen = resolve
    })
    const onLine = (line: string) => {
      printed += `${line}\n`
      if (until.test(printed)) seen()
    }
    const running = yield* Effect.forkChild(
      run(["events", "tail", ...args], { onNote: onLine, onAnswer: onLine, terminal: false })
    )
    yield* untilStreaming(plane)
    for (const frame of frames) plane.send(frame, more)
    yield* Effect.promise(() => within(`${until} in the output`, enough))
    yield* Fiber.interrupt(running)
    return { printed, plane }
  })

describe("events tail on a terminal", () => {
  const moved = (n: number, status: string, at: string) =>
    new Envelope({
      ...envelope(n, "operation.updated.v1", {
        operation_id: "op-1",
        action: "create_branch",
        branch_id: branchId,
        status
      }),
      at: DateTime.makeUnsafe(at)
    })
  const story = [
    moved(1, "scheduling", "2026-11-20T10:42:02.300Z"),
    moved(2, "running", "2026-11-20T10:42:02.700Z"),
    moved(3, "finished", "2026-11-20T10:42:03.100Z")
  ]

  it.live("a line has the local time, the names of project and branch, and how long the work took", () =>
    Effect.gen(function* () {
      const { asked, rows } = yield* rowsOf(story, 100, /finished/)
      const time = (second: string) => new Date(`2026-11-20T10:42:${second}Z`).toLocaleTimeString("en-GB")
      assert.deepStrictEqual(rows, [
        `${time("02.300")}  shop  create branch preview  scheduling`,
        `${time("02.700")}  shop  create branch preview  running`,
        `${time("03.100")}  shop  create branch preview  finished 0.4 s`
      ])
      assert.deepStrictEqual(asked, [`/v1/projects/${shop}`, `/v1/projects/${shop}/branches/${branchId}`])
    }).pipe(Effect.scoped)
  )

  it.live("a line is cut to the terminal, and an event without an operation shows its type and data", () =>
    Effect.gen(function* () {
      const paid = envelope(1, "invoice.paid.v1", { amount: 3, note: "for the whole of the month of November" })
      const { rows } = yield* rowsOf([paid], 60, /paid/)
      assert.lengthOf(rows[0] ?? "", 60)
      assert.match(rows[0] ?? "", /^\d\d:\d\d:\d\d {2}shop {2}invoice\.paid\.v1 {2}\{"amount":3,.*…$/)
    }).pipe(Effect.scoped)
  )

  it.live("a project whose name cannot be read is shown by a part of its id", () =>
    Effect.gen(function* () {
      const elsewhere = new Envelope({ ...started, project_id: ProjectId.make("prj-01hzx0000000000000000000zz") })
      const { rows } = yield* rowsOf([elsewhere], 100, /running/)
      assert.match(rows[0] ?? "", /^\d\d:\d\d:\d\d {2}prj-\S*…\S*zz {2}start compute {2}running$/)
    }).pipe(Effect.scoped)
  )
})

describe("events tail", () => {
  it.live("events tail prints one line per event", () =>
    Effect.gen(function* () {
      const { printed } = yield* tailing([], [started], /op-1\n/)
      assert.strictEqual(
        printed,
        `2026-11-20T10:00:00.000Z  operation.updated.v1  ${shop}  start_compute running  op-1\n`
      )
    }).pipe(Effect.scoped)
  )

  it.live("events tail requests the project, the types and the position of its flags", () =>
    Effect.gen(function* () {
      const args = ["--project", shop, "--type", "operation.updated.v1", "--type", "a.v1,b.v1", "--after", id(0)]
      const { plane } = yield* tailing(args, [started], /op-1/)
      const asked = plane.requests.at(-1)
      assert.strictEqual(asked?.path, `/v1/projects/${shop}/events`)
      assert.strictEqual(asked?.query.get("types"), "operation.updated.v1,a.v1,b.v1")
      assert.strictEqual(asked?.query.get("bookmarks"), "1")
      assert.strictEqual(asked?.lastEventId, id(0))
    }).pipe(Effect.scoped)
  )

  it.live("events tail -o json prints one document per line, gap and overflow included, and warns of both", () =>
    Effect.gen(function* () {
      const { printed } = yield* tailing(["-o", "json"], [started, gap, overflow], /"dropped":7/)
      const lines = printed.trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).type),
        ["operation.updated.v1", "resume.gap.v1", "overflow.v1"]
      )
      assert.deepStrictEqual(
        lines.filter((line) => !line.startsWith("{")),
        [
          "warning: Events were missed (too_old). Read the current state.",
          "warning: This client was too slow and missed 7 events. Read the current state."
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("events tail prints unknown members of a newer server unchanged", () =>
    Effect.gen(function* () {
      const more = { at: "2026-11-20T10:00:00.123456+01:00", actor: { id: "u-1", via: ["console"] }, seq: 7 }
      const { printed } = yield* tailing(["-o", "json"], [started, gap], /resume\.gap\.v1.*\n/, more)
      const documents = printed.split("\n").filter((line) => line.startsWith("{"))
      assert.deepStrictEqual(
        documents.map((line) => JSON.parse(line)),
        [started, gap].map((it) => ({ ...Schema.encodeSync(Envelope)(it), ...more }))
      )
      const yaml = yield* tailing(["-o", "yaml"], [started], /seq: 7\n/, more)
      assert.include(yaml.printed, "actor:\n  id: u-1\n")
    }).pipe(Effect.scoped)
  )

  it.live("events tail -o yaml prints documents", () =>
    Effect.gen(function* () {
      const { printed } = yield* tailing(["-o", "yaml"], [started], /status: running/)
      assert.match(printed, /^---\nid: "?01JD/)
    }).pipe(Effect.scoped)
  )

  it.live("events tail --exit-on-gap prints the gap, then exits with an error", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      const running = yield* Effect.forkChild(run(["events", "tail", "--exit-on-gap", "-o", "json"]))
      yield* untilStreaming(plane)
      plane.send(gap)
      const { code, stderr, stdout }: Run = yield* Fiber.join(running)
      assert.strictEqual(code, 1)
      assert.strictEqual(JSON.parse(stdout).type, "resume.gap.v1")
      assert.include(stderr, `--after ${gap.id}`)
    }).pipe(Effect.scoped)
  )

  it.live("events tail resumes after a lost connection, and prints the loss and the reconnection on stderr", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      let printed = ""
      let back = () => {}
      const again = new Promise<void>((resolve) => {
        back = resolve
      })
      const onNote = (line: string) => {
        printed += `${line}\n`
        if (line === "Reconnected.") back()
      }
      let firstLine = () => {}
      const first = new Promise<void>((resolve) => {
        firstLine = resolve
      })
      const running = yield* Effect.forkChild(run(["events", "tail"], { onNote, onAnswer: firstLine }))
      yield* untilStreaming(plane)
      plane.send(started)
      yield* Effect.promise(() => within("the first event", first))
      plane.dropStreams()
      yield* Effect.promise(() => within("the second connection", again))
      assert.match(printed, /^The connection was cut\. Reconnecting in \d\.\d s\.\nReconnected\.\n$/)
      assert.strictEqual(plane.requests.at(-1)?.lastEventId, started.id)
      yield* Fiber.interrupt(running)
    }).pipe(Effect.scoped)
  )

  it.live("events tail exits with 4 if the server rejects the credential, with 1 if it refuses the stream", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = () => problem("invalid_token")
      assert.strictEqual((yield* run(["events", "tail"])).code, 4)
      plane.instead = () => problem("scope_insufficient")
      const { code, stderr } = yield* run(["events", "tail"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /code: scope_insufficient/)
    }).pipe(Effect.scoped)
  )

  it.live("events tail --after with anything but an event id exits with 2", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      assert.strictEqual((yield* run(["events", "tail", "--after", "yesterday"])).code, 2)
    }).pipe(Effect.scoped)
  )
})
