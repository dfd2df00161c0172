import { createHash } from "node:crypto"
import { once } from "node:events"
import { Readable } from "node:stream"
import { finished, pipeline } from "node:stream/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until, within } from "../../../../test/harness/eventually.ts"
import { times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { bytes as someBytes } from "../../../../test/harness/seed.ts"
import { Cluster } from "../support/Cluster.ts"
import { sqlClient, untilRuns } from "../support/clients.ts"
import { role } from "../support/credentials.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"
import { beginPsql, conninfo, run } from "../support/programs.ts"

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

/** More than all buffers of kernels and processes on the way, and less than any of the tables here. */
const mostHeld = 48e6

describe("relayed sessions", { tags: ["psql"] }, () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("SCRAM, parameters, notices, errors and prepared statements are those of Postgres", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const notices: Array<unknown> = []
      const sql = sqlClient(port, { onnotice: (notice) => notices.push(notice["message"]) })
      yield* Effect.promise(async () => {
        await sql`do $$ begin raise notice 'heard'; end $$`.simple()
        assert.deepStrictEqual(notices, ["heard"])
        assert.deepStrictEqual([...(await sql`select ${"ü"}::text || ${7}::int as t`)], [{ t: "ü7" }])
        const error: { code?: string } = await sql`select 1/0`.catch((cause) => cause)
        assert.strictEqual(error.code, "22012")
        await sql.end()
      })
      const wrong = yield* Effect.promise(() => run("psql", ["-d", conninfo(port)], { PGPASSWORD: "wrong" }))
      assert.match(wrong.stderr, /password authentication failed for user "role_0123456789abcdef"/)
    })
  )

  it.live("a session reaches the endpoint of the user suffix or the options, and other options are kept", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const base = `host=127.0.0.1 port=${port}`
      const ask = (info: string, sql: string) => Effect.promise(() => run("psql", ["-XAt", "-d", info, "-c", sql]))
      const bySuffix = yield* ask(`${base} user=${role}.${endpoint_id} dbname=postgres`, "select current_user")
      assert.strictEqual(bySuffix.stdout, `${role}\n`, bySuffix.stderr)
      const noDatabase = yield* ask(`${base} user=${role}.${endpoint_id}`, "select 1")
      assert.match(noDatabase.stderr, /database "role_0123456789abcdef" does not exist/)
      const options = `options='-c work_mem=3MB endpoint=${endpoint_id} -c test.words=a\\\\ b'`
      const kept = yield* ask(
        `${base} user=${role} dbname=postgres ${options}`,
        "select current_setting('work_mem'), current_setting('test.words')"
      )
      assert.strictEqual(kept.stdout, "3MB|a b\n", kept.stderr)
    })
  )

  it.live("a large COPY arrives intact in both directions", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const text = someBytes(8_192).toString("hex")
      const line = () => `${text.slice(Math.floor(Math.random() * 15_000)).slice(0, 1_200)}\n`
      const sent = Buffer.from(Array.from({ length: 20_000 }, line).join(""))
      const [into, out] = [sqlClient(port), sqlClient(port)]
      yield* Effect.promise(async () => {
        await into`create table copied (n serial, t text)`
        await pipeline(Readable.from(chunked(sent, 100_000)), await into`copy copied (t) from stdin`.writable())
        const received: Array<Buffer> = []
        const stream = await out`copy (select t from copied order by n) to stdout`.readable()
        stream.on("data", (chunk: Buffer) => received.push(chunk))
        await within("the copied table", finished(stream))
        assert.strictEqual(digest(Buffer.concat(received)), digest(sent))
        await into`drop table copied`
        await Promise.all([into.end(), out.end()])
      })
    })
  )

  it.live("a fast server is paused while the client does not read, without buffering", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const [reader, observer] = [sqlClient(port), sqlClient(port)]
      const rows = times(100_000, 400_000)
      yield* Effect.promise(async () => {
        const stream =
          await reader`copy (select repeat('x', 1000) from generate_series(1, ${reader.unsafe(String(rows))})) to stdout`.readable()
        stream.pause()
        // Without backpressure the proxy, which runs in this process, would read more between any two of these checks.
        let looks = 0
        let taken = 0
        await until("Postgres to wait for its client", async () => {
          const [copy] = await observer`
            select bytes_processed::int8::float8 as bytes, wait_event = 'ClientWrite' as waits, pg_sleep(0.01)
            from pg_stat_progress_copy join pg_stat_activity using (pid)`
          const before = taken
          taken = copy?.["bytes"] ?? 0
          looks = copy?.["waits"] === true && taken === before ? looks + 1 : 0
          return looks === 20
        })
        note(`A server that is held back has sent ${(taken / 1e6).toFixed(1)} MB of ${rows / 1_000} MB.`)
        assert.isBelow(taken, mostHeld)
        let received = 0
        stream.on("data", (chunk: Buffer) => {
          received += chunk.length
        })
        stream.resume()
        await within("the rest of the table", once(stream, "end"))
        assert.strictEqual(received, rows * 1_001)
        await Promise.all([reader.end(), observer.end()])
      })
    })
  )

  it.live("a disconnected client ends the session of the server, even during a query", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const observer = sqlClient(port)
      yield* Effect.promise(async () => {
        const psql = beginPsql(port, "select pg_sleep(600)")
        await untilRuns(observer, "select pg_sleep(600)")
        psql.signal("SIGKILL")
        await until(
          "the server to end the query",
          async () =>
            (await observer`select 1 from pg_stat_activity where query = 'select pg_sleep(600)'`).length === 0,
          { every: 50 }
        )
        await observer.end()
      })
    })
  )

  it.live("a server that stops ends the session of the client with its own error", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const observer = sqlClient(port)
      yield* Effect.promise(async () => {
        const psql = beginPsql(port, "select pg_sleep(600)")
        await untilRuns(observer, "select pg_sleep(600)")
        await observer.end()
        await cluster.stop()
        const { stderr } = await psql.ended
        assert.match(stderr, /57P01: terminating connection due to administrator command/)
      })
      yield* Effect.promise(() => cluster.start())
    })
  )
})

function* chunked(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
