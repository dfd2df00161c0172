/**
 * One relay in a process of its own, for `bench/proxy.ts`: `proxyServer.ts <kind> <address of the compute> [folder]`.
 * Prints its ports as JSON, and collects garbage for each line on stdin, which it then repeats.
 *
 * `proxy` is the real proxy with a control plane in memory, `processes` the same with a process for each core, and `pipe` the least that Node can do: `pipe()` in both directions, which parses no messages and
 * checks nothing. `pipes` is that with a process for each core, which get connections in turn. `refuser` is the least that refuses: it reads a startup
 * packet, after TLS if the client asks for it, and answers with the same error. `compute` stands for 5,000 sessions,
 * more than a Postgres takes, and costs less than its forks: it authenticates as Postgres does, and answers nothing after that.
 */
import cluster from "node:cluster"
import { readFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createSecureContext, TLSSocket } from "node:tls"
import { Proxy } from "@narthex/proxy"
import { Duration, Effect, Layer, Logger } from "effect"
import { notListed } from "../packages/proxy/src/outcomes/Refusal.ts"
import { encodeFatal } from "../packages/proxy/src/wire/ErrorResponse.ts"
import { authenticate } from "../packages/proxy/test/support/scramCompute.ts"
import { controlPlane } from "./proxyCluster.ts"

const [kind = "", address = "", folder = ""] = process.argv.slice(2)

const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") }

/** Far above what the benchmark does: its clients have one address. */
const most = 1_000_000
const limits = {
  connections: most,
  half_open: most,
  half_open_per_network: most,
  attempts: most,
  attempts_burst: most,
  org_connections: most,
  endpoint_connections: most,
  failures: most,
  failures_burst: most
}

const config = { host: "127.0.0.1", port: 0, domain: "localhost", tls, limits, shutdown_grace: Duration.millis(1) }

const proxy = () =>
  Effect.gen(function* () {
    const layer = Proxy.layer(config).pipe(Layer.provide(controlPlane(address)), Layer.provide(Logger.layer([])))
    const { port } = yield* Effect.flatMap(Layer.build(layer), (services) => Effect.provideContext(Proxy, services))
    yield* Effect.sync(() => ready(port))
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.runFork)

const processes = () => {
  if (!cluster.isPrimary) return proxy()
  return shared()
}

/** Processes of the cluster on one port, once all of them listen. */
const shared = () => {
  let waiting = availableParallelism()
  for (let count = waiting; count > 0; count--) cluster.fork()
  return cluster.on("listening", (_, { port }) => {
    waiting -= 1
    if (waiting === 0) ready(port)
  })
}

const pipe = () =>
  createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const server = connect({ path: address, allowHalfOpen: true })
    client.pipe(server)
    server.pipe(client)
    client.on("error", () => server.destroy())
    server.on("error", () => client.destroy())
  })

const pipes = () => {
  if (!cluster.isPrimary) return pipe().listen({ host: "127.0.0.1", port: 0, backlog: 4_096 })
  return shared()
}

const refuser = () => {
  const fatal = encodeFatal(notListed("127.0.0.1", "prj-bench"))
  const secureContext = createSecureContext({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) })
  const sslRequest = 8
  const answer = (socket: Socket) => socket.once("data", () => socket.end(fatal))
  return createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {})
    socket.once("data", (first: Buffer) => {
      if (first.length > sslRequest) return void socket.end(fatal)
      socket.write("S")
      const secure = new TLSSocket(socket, { isServer: true, secureContext })
      answer(secure.on("error", () => {}))
    })
  })
}

const compute = () => createServer((socket) => authenticate(socket))

const listen = (server: Server) => {
  const up = () => {
    const at = server.address()
    // A server on a path has a text.
    ready(typeof at === "string" ? 0 : (at as AddressInfo).port)
  }
  if (kind === "compute") server.listen({ path: address, backlog: 4_096 }, up)
  else server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, up)
}

const ready = (port: number) => {
  process.stdout.write(`${JSON.stringify({ port })}\n`)
  createInterface({ input: process.stdin }).on("line", (line) => {
    globalThis.gc?.()
    process.stdout.write(`${line}\n`)
  })
}

process.on("SIGTERM", () => process.exit(0))
if (kind === "proxy") proxy()
else if (kind === "processes") processes()
else if (kind === "pipes") pipes()
else listen((kind === "pipe" ? pipe : kind === "refuser" ? refuser : compute)())
