/**
 * TLS towards clients: the certificate, and the upgrade of a connection.
 *
 * Every handshake checks whether the files have changed, which takes microseconds where the cryptography takes a
 * millisecond, so a renewed certificate takes effect immediately. A certificate that does not match its key, as between
 * the two writes of a renewal, is ignored and the previous pair stays in use.
 */
import { readFileSync, statSync } from "node:fs"
import type { Socket } from "node:net"
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls"
import { Data, Effect } from "effect"
import { Hangup } from "../outcomes/Refusal.ts"

export interface TlsFiles {
  /** Paths of PEM files: the certificate chain and its private key. */
  readonly cert: string
  readonly key: string
  /** Whether plaintext is refused with 28000. Default: no. */
  readonly required?: boolean | undefined
}

/** The certificate or its key is missing or invalid. */
export class UnusableCertificate extends Data.TaggedError("UnusableCertificate")<{ readonly reason: string }> {}

export interface Tls {
  readonly required: boolean
  /** The context of the current files. */
  readonly context: Effect.Effect<SecureContext>
}

const stamp = (file: string) => {
  const { ino, mtimeMs, size } = statSync(file)
  return `${ino}:${size}:${mtimeMs}`
}

/** Loads the certificate; fails if it is unusable. A later failure is logged, once per reason. */
export const makeTls = Effect.fnUntraced(function* (files: TlsFiles) {
  const load = Effect.try({
    try: () => {
      const stamps = `${stamp(files.cert)} ${stamp(files.key)}`
      return { stamps, context: createSecureContext({ cert: readFileSync(files.cert), key: readFileSync(files.key) }) }
    },
    catch: (cause) => new UnusableCertificate({ reason: String(cause) })
  })
  let current = yield* load
  let logged = ""
  const context = Effect.gen(function* () {
    const stamps = yield* Effect.try({
      try: () => `${stamp(files.cert)} ${stamp(files.key)}`,
      catch: (cause) => new UnusableCertificate({ reason: String(cause) })
    })
    if (stamps === current.stamps) return current.context
    current = yield* load
    logged = ""
    yield* Effect.logInfo("the TLS certificate was reloaded")
    return current.context
  }).pipe(
    Effect.catchTag("UnusableCertificate", ({ reason }) => {
      if (logged === reason) return Effect.succeed(current.context)
      logged = reason
      return Effect.as(
        Effect.logError(`the TLS certificate cannot be reloaded; the previous one stays in use: ${reason}`),
        current.context
      )
    })
  )
  const tls: Tls = { required: files.required ?? false, context }
  return tls
})

/** The TLS handshake, on a socket whose next bytes are the ClientHello. Fails with a hangup. */
export const upgrade = (socket: Socket, secureContext: SecureContext): Effect.Effect<TLSSocket, Hangup> =>
  Effect.callback((resume) => {
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["postgresql"] })
    const failed = () => resume(new Hangup({ event: "tls_failed" }))
    secure.once("close", failed)
    // Stays for the lifetime of the socket: an error event without a listener terminates the process.
    secure.on("error", failed)
    secure.once("secure", () => {
      secure.off("close", failed)
      resume(Effect.succeed(secure))
    })
    return Effect.sync(() => secure.destroy())
  })
