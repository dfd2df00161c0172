/**
 * Revocation against sessions that resist it: each case is a way to keep a role that has to end.
 * Holds docs/design/proxy.md P28.
 */
import { connect, type Socket } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import type { ComputeDriver } from "@narthex/core"
import { Duration, Effect, Option, type Scope } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { Address, apply, as, open, reader, runningBranch, writer } from "./runningBranch.ts"
import { kinds, minted } from "./support.ts"

const agent = minted("agent", "read_write")

/** Short, so that the attacks that need a restart get it soon. */
const limit = Duration.seconds(1)

/** A session with an open transaction, after the statements. */
const holding = (role: string, ...statements: ReadonlyArray<string>) =>
  Effect.tap(open(role), (sql) => Effect.forEach(["BEGIN", ...statements], (text) => sql.unsafe(text)))

/** Connections that send a startup packet as the role and never answer the server. */
const unanswered = (count: number, role: string) =>
  Effect.flatMap(Address, (path) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const words = Buffer.from(`user\0${role}\0database\0postgres\0\0`)
        const head = Buffer.alloc(8)
        head.writeInt32BE(words.length + 8, 0)
        head.writeInt32BE(196608, 4)
        const answered = new Set<Socket>()
        const sockets = Array.from({ length: count }, () => {
          const socket = connect(path)
          socket.on("error", () => undefined)
          socket.on("data", () => answered.add(socket))
          socket.write(Buffer.concat([head, words]))
          return socket
        })
        return { answered, sockets }
      }),
      ({ sockets }) =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
        })
    )
  )

/** The role has no session, cannot log in, and the writer works through the same address. */
const isGone = (role: string) =>
  Effect.gen(function* () {
    const sessions = yield* as("writer", `SELECT FROM pg_stat_activity WHERE usename = '${role}'`)
    assert.lengthOf(sessions, 0)
    yield* Effect.flip(Effect.scoped(open(role)))
    assert.lengthOf(yield* as("writer", `SELECT FROM pg_roles WHERE rolname = '${role}'`), 0)
  })

type Attack = Effect.Effect<unknown, unknown, Address | ComputeDriver | Scope.Scope>

const attacks: ReadonlyArray<readonly [string, Attack]> = [
  ["that holds an open change of its own role", holding("agent", "SET role = none", "ALTER ROLE agent PASSWORD 'x'")],
  [
    "that holds an open change of its own settings",
    holding("agent", "SET role = none", "ALTER ROLE agent SET work_mem = '1MB'")
  ],
  [
    "whose table another role keeps locked",
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.flatMap(open("agent"), (sql) =>
          Effect.forEach(
            ["RESET ROLE", "CREATE TABLE IF NOT EXISTS kept (n int)", "GRANT ALL ON kept TO writer"],
            (text) => sql.unsafe(text)
          )
        )
      )
      yield* holding("writer", "RESET ROLE", "LOCK TABLE kept")
    })
  ],
  [
    "that another role keeps in use by an open grant",
    Effect.gen(function* () {
      yield* as("writer", "CREATE TABLE IF NOT EXISTS granted (n int)")
      yield* holding("writer", "GRANT SELECT ON granted TO agent")
    })
  ],
  [
    "that connects again whenever its session ends",
    Effect.gen(function* () {
      const statements = ["SET role = none", "BEGIN", "ALTER ROLE agent RESET work_mem", "SELECT pg_sleep(60)"]
      const change = Effect.flatMap(open("agent"), (sql) => Effect.forEach(statements, (text) => sql.unsafe(text)))
      const again = Effect.scoped(change).pipe(Effect.ignore, Effect.andThen(Effect.sleep(1)), Effect.forever)
      yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.forkScoped(again))
      yield* eventually(
        "the sessions",
        Effect.map(as("writer", "SELECT FROM pg_stat_activity WHERE usename = 'agent'"), (rows) => rows.length === 6)
      )
    })
  ],
  [
    "whose session does not react to signals",
    Effect.gen(function* () {
      const [backend] = yield* (yield* open("agent")).unsafe<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid")
      process.kill(backend?.pid ?? 0, "SIGSTOP")
    })
  ],
  [
    "that fills every slot with connections that do not authenticate",
    Effect.gen(function* () {
      const { answered, sockets } = yield* unanswered(150, "agent")
      yield* eventually(
        "answers",
        Effect.sync(() => answered.size === sockets.length)
      )
      yield* Effect.flip(as("writer", "SELECT 1"))
    })
  ],
  [
    "that fills every slot with sessions",
    Effect.gen(function* () {
      let full = false
      while (!full) full = Option.isNone(yield* Effect.option(open("agent")))
      yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.option(open("agent")), { concurrency: 8 })
    })
  ]
]

/** More than the limits of the driver together, so that those decide on a busy machine, too. */
const patience = "100 seconds"

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`revocation on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(runningBranch(kind, limit), { excludeTestServices: true })((it) => {
      for (const [which, attack] of attacks)
        it.effect(`a role ${which} is dropped, and none of its sessions is left`, () =>
          Effect.gen(function* () {
            yield* apply(writer, agent, reader)
            yield* attack
            yield* Effect.timeout(apply(writer, reader), patience)
            yield* isGone("agent")
          }).pipe(Effect.scoped)
        )
    })
  )
}
