/** Computes that are reached over TLS (docs/design/proxy.md P25): only the certificate that was asked for is trusted. */
import { readFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { compile } from "../../src/allowlist/Allowlist.ts"
import { checkAllowlist } from "../../src/allowlist/checkAllowlist.ts"
import type { ComputeSocket } from "../../src/compute/ComputeSocket.ts"
import { ComputeGone, connectCompute, type Reachable } from "../../src/compute/connectCompute.ts"
import { parsePeer } from "../../src/networks/Address.ts"
import { Cluster } from "../support/Cluster.ts"
import { once, sqlClient } from "../support/clients.ts"
import { role } from "../support/credentials.ts"
import { certificate, harness } from "../support/harness.ts"
import { endpoint_id, project_id, type Startable } from "../support/MemoryControlPlane.ts"

interface Files {
  readonly cert: string
  readonly key: string
}

/** A server on TCP that answers a request for TLS with `answer`, and goes on as `encrypted` says. */
const asked = Effect.fnUntraced(function* (answer: string, encrypted: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer(async (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    await once(socket).catch(() => undefined)
    socket.write(answer)
    encrypted(socket)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  const at = server.address()
  return typeof at === "object" ? at?.port : undefined
})

/** The cluster behind TLS. */
const encryptedCompute = (cluster: Cluster, { cert, key }: Files, answer = "S") =>
  asked(answer, (socket) => {
    const near = new TLSSocket(socket, { isServer: true, cert: readFileSync(cert), key: readFileSync(key) })
    const far = connect(cluster.address)
    near.on("error", () => far.destroy()).pipe(far)
    far.on("error", () => near.destroy()).pipe(near)
  })

const at = (cluster: Cluster, address: string): Startable => ({
  generation: cluster.generation,
  running: true,
  address,
  start: async () => address
})

/** A client that every address is admitted for. */
const admitted = () => {
  const list = compile({ project_id, version: 1, rules: [], server_now: "2026-01-01T12:00:00Z" }, 0)
  const peer = parsePeer("127.0.0.1")
  if (list === undefined || peer === undefined) throw new Error("These are a list and an address.")
  return Result.getOrThrow(checkAllowlist(list, { endpoint_id, project_id, peer }, 0, 1))
}

const outcome = (compute: Reachable) =>
  Effect.callback<ComputeSocket | ComputeGone>((resume) =>
    Effect.sync(
      connectCompute(admitted(), compute, { compute: undefined }, (reached) => resume(Effect.succeed(reached)))
    )
  )

describe("a compute that is reached over TLS", { tags: ["openssl"] }, () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("is used where its certificate is of the authority and for the name", () =>
    Effect.gen(function* () {
      const files = yield* certificate("localhost")
      const port = yield* encryptedCompute(cluster, files)
      const proxy = yield* harness(at(cluster, `localhost:${port}`))
      proxy.control.tls = { ca: readFileSync(files.cert, "utf8") }
      const sql = sqlClient(proxy.port)
      const [row] = yield* Effect.promise(() => sql`select current_user as name`)
      assert.strictEqual(row?.["name"], role)
      yield* Effect.promise(() => sql.end())
    })
  )

  it.live(
    "is used at an IP address where its certificate has the name that the control plane gives, and no other",
    () =>
      Effect.gen(function* () {
        const files = yield* certificate("b-1-rw.computes.svc")
        const port = yield* encryptedCompute(cluster, files)
        const ca = readFileSync(files.cert, "utf8")
        const reach = (server_name?: string) =>
          outcome({ address: `127.0.0.1:${port}`, tls: { ca, ...(server_name === undefined ? {} : { server_name }) } })
        const named = yield* reach("b-1-rw.computes.svc")
        if (named instanceof ComputeGone) return assert.fail(named.reason)
        named.socket.destroy()
        assert.instanceOf(yield* reach("b-2-rw.computes.svc"), ComputeGone)
        assert.instanceOf(yield* reach(), ComputeGone)
      })
  )

  it.live("is not used with another certificate, another name, without TLS or with bytes before it", () =>
    Effect.gen(function* () {
      const files = yield* certificate("localhost")
      const other = yield* certificate("localhost")
      const named = yield* certificate("db.test")
      const trusted = { ca: readFileSync(files.cert, "utf8") }
      const cases = [
        { of: "another certificate", port: yield* encryptedCompute(cluster, other), tls: trusted },
        { of: "no known authority", port: yield* encryptedCompute(cluster, files), tls: { ca: null } },
        {
          of: "another name",
          port: yield* encryptedCompute(cluster, named),
          tls: { ca: readFileSync(named.cert, "utf8") }
        },
        { of: "no TLS", port: yield* asked("N", () => {}), tls: trusted },
        { of: "bytes before it", port: yield* encryptedCompute(cluster, files, "SR\0\0\0\b\0\0\0\0"), tls: trusted }
      ]
      for (const { of, port, tls } of cases)
        assert.instanceOf(yield* outcome({ address: `localhost:${port}`, tls }), ComputeGone, of)
    })
  )
})
