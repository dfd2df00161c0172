import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { Readable } from "node:stream"
import { finished, pipeline } from "node:stream/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { conninfo, psql, run, sqlClient, withoutPsql } from "../support/clients.ts"
import { Cluster } from "../support/Cluster.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

describe.skipIf(withoutPsql)("a relayed session", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("is Postgres's own: SCRAM, parameters, notices, errors, prepared statements", () =>
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
      assert.match(wrong.stderr, /password authentication failed for user "app"/)
    })
  )

  it.live(
    "is the named endpoint's, by user suffix, by options, with the database left out, and other options kept",
    () =>
      Effect.gen(function* () {
        const { port } = yield* harness(cluster)
        const base = `host=127.0.0.1 port=${port}`
        const ask = (info: string, sql: string) => Effect.promise(() => run("psql", ["-XAt", "-d", info, "-c", sql]))
        const bySuffix = yield* ask(`${base} user=app.${endpoint_id} dbname=postgres`, "select current_user")
        assert.strictEqual(bySuffix.stdout, "app\n", bySuffix.stderr)
        const noDatabase = yield* ask(`${base} user=app.${endpoint_id}`, "select 1")
        assert.match(noDatabase.stderr, /database "app" does not exist/)
        const options = `options='-c work_mem=3MB endpoint=${endpoint_id} -c application_name=a\\\\ b'`
        const kept = yield* ask(
          `${base} user=app dbname=postgres ${options}`,
          "select current_setting('work_mem') || current_setting('application_name')"
        )
        assert.match(kept.stdout, /^3MB/, kept.stderr)
      })
  )

  it.live("carries a large COPY intact in both directions", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const line = () => `${randomBytes(600).toString("hex")}\n`
      const sent = Buffer.from(Array.from({ length: 20_000 }, line).join(""))
      const [into, out] = [sqlClient(port), sqlClient(port)]
      yield* Effect.promise(async () => {
        await into`create table copied (n serial, t text)`
        await pipeline(Readable.from(chunked(sent, 100_000)), await into`copy copied (t) from stdin`.writable())
        const received: Array<Buffer> = []
        const stream = await out`copy (select t from copied order by n) to stdout`.readable()
        stream.on("data", (chunk: Buffer) => received.push(chunk))
        await finished(stream)
        assert.strictEqual(digest(Buffer.concat(received)), digest(sent))
        await into`drop table copied`
        await Promise.all([into.end(), out.end()])
      })
    })
  )

  it.live("holds back a fast server while the client does not read, instead of buffering", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const [reader, observer] = [sqlClient(port), sqlClient(port)]
      yield* Effect.promise(async () => {
        const before = process.memoryUsage().rss
        const stream =
          await reader`copy (select repeat('x', 1000) from generate_series(1, 400000)) to stdout`.readable()
        stream.pause()
        // Postgres waits for its client once every buffer on the way is full.
        const blocked = () =>
          observer`select 1 from pg_stat_activity where wait_event = 'ClientWrite' and query like 'copy%'`
        while ((await blocked()).length === 0) await observer`select pg_sleep(0.02)`
        assert.isBelow(process.memoryUsage().rss - before, 150e6)
        let bytes = 0
        stream.on("data", (chunk: Buffer) => {
          bytes += chunk.length
        })
        stream.resume()
        await once(stream, "end")
        assert.strictEqual(bytes, 400_000 * 1_001)
        await Promise.all([reader.end(), observer.end()])
      })
    })
  )

  it.live("ends for the server when the client is gone, though a query runs", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      yield* Effect.promise(() => run("timeout", ["1", "psql", "-d", conninfo(port), "-c", "select pg_sleep(600)"]))
      const observer = sqlClient(port)
      yield* Effect.promise(async () => {
        while ((await observer`select 1 from pg_stat_activity where query = 'select pg_sleep(600)'`).length > 0)
          await observer`select pg_sleep(0.05)`
        await observer.end()
      })
    })
  )

  it.live("ends for the client with Postgres's own words when the server stops", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const waiting = Effect.promise(() => psql(port, "select pg_sleep(600)"))
      const observer = sqlClient(port)
      const stop = Effect.promise(async () => {
        while ((await observer`select 1 from pg_stat_activity where query = 'select pg_sleep(600)'`).length === 0);
        await observer.end()
        await cluster.stop()
      })
      const [{ stderr }] = yield* Effect.all([waiting, stop], { concurrency: "unbounded" })
      assert.match(stderr, /57P01: terminating connection due to administrator command/)
      yield* Effect.promise(() => cluster.start())
    })
  )
})

function* chunked(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
