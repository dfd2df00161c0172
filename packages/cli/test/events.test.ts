import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { streaming } from "../../../test/support/HostedPlane.ts"
import type { Run } from "./support/runNarthex.ts"
import { withShop } from "./support/signedIn.ts"

const id = (n: number) => `01JD000000000000000000000${n}`

/** Prints on a terminal, which shows no notes. */
const onTerminal = (columns: number) => ({ terminal: true, columns, onNote: () => {} })

interface Event {
  readonly [member: string]: unknown
  readonly id: string
  readonly type: string
}

/** A project, and events of it that a server sends, also one of another version. */
const withEvents = Effect.gen(function* () {
  const world = yield* withShop()
  const { acme, plane, shop } = world
  const event = (n: number, type: string, data: object, more: object = {}) => ({
    id: id(n),
    type,
    source: type.startsWith("operation") ? "operations" : "_broker",
    org_id: acme.id,
    project_id: shop,
    region_id: "eu",
    at: "2026-11-20T10:00:00.000Z",
    data,
    ...more
  })
  const written: Array<string> = []
  const onLine = (line: string) => void written.push(line)
  const printed = () => written.map((line) => `${line}\n`).join("")
  const until = (wanted: RegExp) =>
    eventually(
      `${wanted} in the output`,
      Effect.sync(() => wanted.test(printed()))
    )
  return {
    ...world,
    event,
    printed,
    until,
    started: event(1, "operation.updated.v1", { operation_id: "op-1", action: "start_compute", status: "running" }),
    gap: event(2, "resume.gap.v1", { reason: "too_old" }),
    overflow: event(3, "overflow.v1", { dropped: 7 }),
    /** The stream of each client begins with these events. */
    send: (...events: ReadonlyArray<Event>) => {
      const frames = events.map((it) => `id: ${it.id}\nevent: ${it.type}\ndata: ${JSON.stringify(it)}\n\n`)
      plane.instead = ({ path }) => (path.endsWith("/events") ? streaming(frames.join("")) : undefined)
    },
    /** Runs the command until its output matches. */
    tailing: (args: ReadonlyArray<string>, wanted: RegExp, more: object = {}) =>
      Effect.gen(function* () {
        const run = world.run(["events", "tail", ...args], { onNote: onLine, onAnswer: onLine, ...more })
        const running = yield* Effect.forkChild(run)
        yield* until(wanted)
        yield* Fiber.interrupt(running)
        return printed()
      }),
    tail: (...args: ReadonlyArray<string>) =>
      Effect.forkChild(world.run(["events", "tail", ...args], { onNote: onLine, onAnswer: onLine })),
    untilStreaming: eventually(
      "a stream to be open on the control plane",
      Effect.sync(() => plane.streams > 0)
    )
  }
})

describe("events tail on a terminal", () => {
  it.live("a line has the local time, the names of project and branch, and how long the work took", () =>
    Effect.gen(function* () {
      const { client, event, plane, send, shop, tailing } = yield* withEvents
      const { branch } = yield* Effect.promise(() => client.branches.create({ project_id: shop, name: "preview" }))
      const moved = (n: number, status: string, at: string) => {
        const data = { operation_id: "op-1", action: "create_branch", branch_id: branch.id, status }
        return event(n, "operation.updated.v1", data, { at })
      }
      send(
        moved(1, "scheduling", "2026-11-20T10:42:02.300Z"),
        moved(2, "running", "2026-11-20T10:42:02.700Z"),
        moved(3, "finished", "2026-11-20T10:42:03.100Z")
      )
      const printed = yield* tailing([], /finished/, onTerminal(100))
      const time = (second: string) => new Date(`2026-11-20T10:42:${second}Z`).toLocaleTimeString("en-GB")
      assert.deepStrictEqual(printed.trimEnd().split("\n"), [
        `${time("02.300")}  shop  create branch preview  scheduling`,
        `${time("02.700")}  shop  create branch preview  running`,
        `${time("03.100")}  shop  create branch preview  finished 0.4 s`
      ])
      assert.deepStrictEqual(
        plane.requests.map(({ path }) => path).filter((path) => !path.endsWith("/events")),
        [`/v1/projects/${shop}`, `/v1/projects/${shop}/branches/${branch.id}`]
      )
    }).pipe(Effect.scoped)
  )

  it.live("a line is cut to the terminal, and an event without an operation shows its type and data", () =>
    Effect.gen(function* () {
      const { event, send, tailing } = yield* withEvents
      send(event(1, "invoice.paid.v1", { amount: 3, note: "for the whole of the month of November" }))
      const printed = yield* tailing([], /paid/, onTerminal(60))
      assert.lengthOf(printed, 61)
      assert.match(printed, /^\d\d:\d\d:\d\d {2}shop {2}invoice\.paid\.v1 {2}\{"amount":3,.*…\n$/)
    }).pipe(Effect.scoped)
  )

  it.live("a project whose name cannot be read is shown by a part of its id", () =>
    Effect.gen(function* () {
      const { send, started, tailing } = yield* withEvents
      send({ ...started, project_id: "prj-01hzx0000000000000000000zz" })
      const printed = yield* tailing([], /running/, onTerminal(100))
      assert.match(printed, /^\d\d:\d\d:\d\d {2}prj-\S*…\S*zz {2}start compute {2}running\n$/)
    }).pipe(Effect.scoped)
  )
})

describe("events tail", () => {
  it.live("events tail prints one line per event", () =>
    Effect.gen(function* () {
      const { client, printed, run, shop, tail, until, untilStreaming } = yield* withEvents
      yield* run(["project", "delete", shop, "--yes", "--wait"])
      const running = yield* tail()
      yield* untilStreaming
      const made = yield* Effect.promise(() => client.projects.create({ name: "blog" }))
      yield* until(/ create_timeline finished /)
      yield* Fiber.interrupt(running)
      const line = new RegExp(
        `^\\S+Z {2}operation\\.updated\\.v1 {2}${made.project.id} {2}create_timeline \\w+ {2}${made.operations[0]?.id}$`
      )
      for (const it of printed().trimEnd().split("\n")) assert.match(it, line)
    }).pipe(Effect.scoped)
  )

  it.live("events tail requests the project, the types and the position of its flags", () =>
    Effect.gen(function* () {
      const { plane, send, shop, started, tailing } = yield* withEvents
      send(started)
      const args = ["--project", shop, "--type", "operation.updated.v1", "--type", "a.v1,b.v1", "--after", id(0)]
      yield* tailing(args, /op-1/)
      const asked = plane.requests.at(-1)
      assert.strictEqual(asked?.path, `/v1/projects/${shop}/events`)
      assert.strictEqual(asked?.query.get("types"), "operation.updated.v1,a.v1,b.v1")
      assert.strictEqual(asked?.query.get("bookmarks"), "1")
      assert.strictEqual(asked?.headers["last-event-id"], id(0))
    }).pipe(Effect.scoped)
  )

  it.live("events tail -o json prints one document per line, gap and overflow included, and warns of both", () =>
    Effect.gen(function* () {
      const { gap, overflow, send, started, tailing } = yield* withEvents
      send(started, gap, overflow)
      const printed = yield* tailing(["-o", "json"], /"dropped":7/)
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

  const more = { at: "2026-11-20T10:00:00.123456+01:00", actor: { id: "u-1", via: ["console"] }, seq: 7 }

  it.live("events tail -o json prints unknown members of a newer server unchanged", () =>
    Effect.gen(function* () {
      const { gap, send, started, tailing } = yield* withEvents
      const sent = [started, gap].map((it) => ({ ...it, ...more }))
      send(...sent)
      const printed = yield* tailing(["-o", "json"], /resume\.gap\.v1.*\n/)
      const documents = printed.split("\n").filter((line) => line.startsWith("{"))
      assert.deepStrictEqual(
        documents.map((line) => JSON.parse(line)),
        sent
      )
    }).pipe(Effect.scoped)
  )

  it.live("events tail -o yaml prints documents, unknown members included", () =>
    Effect.gen(function* () {
      const { send, started, tailing } = yield* withEvents
      send({ ...started, ...more })
      const printed = yield* tailing(["-o", "yaml"], /seq: 7\n/)
      assert.match(printed, /^---\nid: "?01JD/)
      assert.include(printed, "status: running")
      assert.include(printed, "actor:\n  id: u-1\n")
    }).pipe(Effect.scoped)
  )

  it.live("events tail --exit-on-gap prints the gap, then exits with an error", () =>
    Effect.gen(function* () {
      const { run } = yield* withEvents
      const args = ["events", "tail", "--exit-on-gap", "--after", `7${"Z".repeat(25)}`, "-o", "json"]
      const { code, stderr, stdout }: Run = yield* run(args)
      assert.strictEqual(code, 1)
      const gap = JSON.parse(stdout)
      assert.strictEqual(gap.type, "resume.gap.v1")
      assert.include(stderr, `--after ${gap.id}`)
    }).pipe(Effect.scoped)
  )

  it.live("events tail resumes after a lost connection, and prints the loss and the reconnection on stderr", () =>
    Effect.gen(function* () {
      const { plane, printed, send, started, tail, until } = yield* withEvents
      send(started)
      const running = yield* tail()
      yield* until(/op-1\n/)
      send()
      plane.dropStreams()
      yield* until(/Reconnected\.\n/)
      assert.match(printed(), /op-1\nThe connection was cut\. Reconnecting in \d\.\d s\.\nReconnected\.\n$/)
      assert.strictEqual(plane.requests.at(-1)?.headers["last-event-id"], started.id)
      yield* Fiber.interrupt(running)
    }).pipe(Effect.scoped)
  )

  it.live("events tail exits with 4 if the server rejects the credential, with 1 if it refuses the stream", () =>
    Effect.gen(function* () {
      const { client, key, run, setting, shop } = yield* withEvents
      const scope = `project:${shop}` as const
      const { secret } = yield* Effect.promise(() => client.apiKeys.create({ name: "narrow", scope }))
      const variables = { ...setting.variables, NARTHEX_API_KEY: secret ?? "" }
      const { code, stderr } = yield* run(["events", "tail"], { variables })
      assert.strictEqual(code, 1)
      assert.match(stderr, /code: scope_insufficient/)
      yield* Effect.promise(() => client.apiKeys.revoke({ api_key_id: key.id }))
      assert.strictEqual((yield* run(["events", "tail"])).code, 4)
    }).pipe(Effect.scoped)
  )

  it.live("events tail --after with anything but an event id exits with 2", () =>
    Effect.gen(function* () {
      const { run } = yield* withEvents
      assert.strictEqual((yield* run(["events", "tail", "--after", "yesterday"])).code, 2)
    }).pipe(Effect.scoped)
  )
})
