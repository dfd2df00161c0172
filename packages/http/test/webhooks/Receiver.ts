/** A receiver of webhooks on this machine, with a certificate of its own that the process trusts while the test runs. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { Effect } from "effect"

/** The name in the certificate. No DNS server knows it. */
export const receiverName = "hooks.narthex.test"

const certificate = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "webhooks-"))
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    const names = ["-subj", `/CN=${receiverName}`, "-addext", `subjectAltName=DNS:${receiverName}`]
    execFileSync("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", cert], { stdio: "pipe" })
    const pair = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
    rmSync(directory, { recursive: true })
    const trusted = getCACertificates("default")
    setDefaultCACertificates([...trusted, pair.cert])
    return { ...pair, trusted }
  }),
  ({ trusted }) => Effect.sync(() => setDefaultCACertificates(trusted))
)

export interface Seen {
  readonly request: IncomingMessage
  readonly body: string
}

/** Listens on 127.0.0.1. `answer` gets each request with its body. */
export const makeReceiver = Effect.fnUntraced(function* (
  answer: (seen: Seen, response: ServerResponse) => void = (_, response) => response.writeHead(204).end()
) {
  const { cert, key } = yield* certificate
  const seen: Array<Seen> = []
  const server = createServer({ key, cert }, (request, response) => {
    let body = ""
    request.on("data", (part) => {
      body += part
    })
    request.on("end", () => {
      const one = { request, body }
      seen.push(one)
      answer(one, response)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { port, seen, url: `https://${receiverName}:${port}/hooks?for=ada` }
})
