/** A proxy with a control plane in memory, for one test. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Logger } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Proxy } from "../../src/Proxy.ts"
import type { ProxyConfig } from "../../src/ProxyConfig.ts"
import { encodeFatal } from "../../src/wire/ErrorResponse.ts"
import { MemoryControlPlane, type Startable } from "./MemoryControlPlane.ts"

const config: ProxyConfig = { host: "127.0.0.1", port: 0, domain: "db.test", shutdown_grace: "1 second" }

/** The control plane, and a proxy that is subscribed to its changes. Both end with the test. */
export const harness = Effect.fnUntraced(function* (compute: Startable, overrides: Partial<ProxyConfig> = {}) {
  const control = yield* MemoryControlPlane.make(compute)
  const quiet = Logger.layer([])
  const services = yield* Layer.build(
    Proxy.layer({ ...config, ...overrides }).pipe(Layer.provide(control.layer), Layer.provide(quiet))
  )
  const proxy = yield* Effect.provideContext(Proxy, services)
  yield* eventually(
    "the proxy to subscribe to changes",
    Effect.sync(() => control.subscriptions > 0)
  )
  return { control, proxy, port: proxy.port }
})

/** Another proxy of the same control plane. */
export const anotherProxy = Effect.fnUntraced(function* (
  control: MemoryControlPlane,
  overrides: Partial<ProxyConfig> = {}
) {
  const before = control.subscriptions
  const services = yield* Layer.build(
    Proxy.layer({ ...config, ...overrides }).pipe(Layer.provide(control.layer), Layer.provide(Logger.layer([])))
  )
  yield* eventually(
    "the other proxy to subscribe to changes",
    Effect.sync(() => control.subscriptions > before)
  )
  return yield* Effect.provideContext(Proxy, services)
})

/** A self-signed certificate in files. */
export const certificate = Effect.fnUntraced(function* (name: string) {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "narthex-tls-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") }
  writeCertificate(files, name)
  return files
})

export const writeCertificate = (files: { readonly cert: string; readonly key: string }, name: string) => {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", files.key]
  const about = ["-out", files.cert, "-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`]
  execFileSync("openssl", ["req", "-x509", ...key, ...about], { stdio: "pipe" })
}

/** A server that answers every startup packet with one error, like a compute that is not ready. Returns `host:port`. */
export const refusingCompute = Effect.fnUntraced(function* (code: string) {
  const fatal = encodeFatal({ sqlstate: code, message: "not now", hint: "later" })
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => socket.end(fatal))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close())
  )
  const address = server.address()
  return typeof address === "object" ? `127.0.0.1:${address?.port}` : ""
})

/** The compute of a cluster behind a listener that counts connections. */
export const countedCompute = Effect.fnUntraced(function* (cluster: Startable) {
  let counted = 0
  const server = createServer({ allowHalfOpen: true }, (near) => {
    counted++
    const far = connect({ path: cluster.address, allowHalfOpen: true })
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const)
      from.on("error", () => to.destroy()).pipe(to)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close())
  )
  const at = server.address()
  const address = typeof at === "object" ? `127.0.0.1:${at?.port}` : ""
  const compute: Startable = { generation: cluster.generation, running: true, address, start: async () => address }
  return {
    compute,
    get count() {
      return counted
    }
  }
})
