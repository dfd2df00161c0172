/** A proxy in front of a control plane in memory, for one test. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Logger, Schedule } from "effect"
import { Proxy, type ProxyConfig } from "../../src/Proxy.ts"
import { encodeFatal } from "../../src/wire/ErrorResponse.ts"
import { MemoryControlPlane, type Startable } from "./MemoryControlPlane.ts"

const config: ProxyConfig = { host: "127.0.0.1", port: 0, domain: "db.test", grace: "1 second" }

/** The control plane, and the proxy that asks it. Both end with the test. */
export const harness = Effect.fnUntraced(function* (compute: Startable, overrides: Partial<ProxyConfig> = {}) {
  const control = yield* MemoryControlPlane.make(compute)
  const quiet = Logger.layer([])
  const services = yield* Layer.build(
    Proxy.layer({ ...config, ...overrides }).pipe(Layer.provide(control.layer), Layer.provide(quiet))
  )
  const proxy = yield* Effect.provideContext(Proxy, services)
  return { control, proxy, port: proxy.port }
})

/** Waits until something is so; the test's own time limit ends what never becomes so. */
export const eventually = (so: () => boolean) =>
  Effect.repeat(Effect.sync(so), { until: (is) => is, schedule: Schedule.spaced("10 millis") })

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

/** Something that answers every startup packet with one error, as a compute that is not ready does. Its `host:port`. */
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
