/**
 * TLS towards clients: the certificate, and the upgrade of a connection.
 *
 * The files are looked at on every handshake, which costs microseconds beside a millisecond of cryptography, so a
 * renewed certificate is in force at once. A pair that does not fit, as it is between two writes, leaves the former in force.
 */
import { readFileSync, statSync } from "node:fs"
import type { Socket } from "node:net"
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls"
import { Data, Effect } from "effect"
import { Hangup } from "../outcomes/Refusal.ts"

export interface TlsFiles {
  /** PEM files: the chain, and its private key. */
  readonly cert: string
  readonly key: string
  /** Refuse plaintext with 28000. */
  readonly required?: boolean | undefined
}

/** The certificate or its key cannot be used. */
export class UnusableCertificate extends Data.TaggedError("UnusableCertificate")<{ readonly reason: string }> {}

export interface Tls {
  readonly required: boolean
  /** The context of the files as they are now. */
  readonly context: Effect.Effect<SecureContext>
}

const stamp = (file: string) => {
  const { ino, mtimeMs, size } = statSync(file)
  return `${ino}:${size}:${mtimeMs}`
}

export const makeTls = Effect.fnUntraced(function* (files: TlsFiles) {
  const load = Effect.try({
    try: () => {
      const stamps = `${stamp(files.cert)} ${stamp(files.key)}`
      return { stamps, context: createSecureContext({ cert: readFileSync(files.cert), key: readFileSync(files.key) }) }
    },
    catch: (cause) => new UnusableCertificate({ reason: String(cause) })
  })
  let current = yield* load
  let complained = ""
  const context = Effect.gen(function* () {
    const stamps = yield* Effect.try({
      try: () => `${stamp(files.cert)} ${stamp(files.key)}`,
      catch: (cause) => new UnusableCertificate({ reason: String(cause) })
    })
    if (stamps === current.stamps) return current.context
    current = yield* load
    complained = ""
    yield* Effect.logInfo("the TLS certificate was read anew")
    return current.context
  }).pipe(
    Effect.catchTag("UnusableCertificate", ({ reason }) => {
      if (complained === reason) return Effect.succeed(current.context)
      complained = reason
      return Effect.as(
        Effect.logError(`the TLS certificate cannot be read anew, the former stays: ${reason}`),
        current.context
      )
    })
  )
  const tls: Tls = { required: files.required ?? false, context }
  return tls
})

/** Shakes hands on a socket whose next byte is the client's hello. A failure ends the connection without a word. */
export const upgrade = (socket: Socket, secureContext: SecureContext): Effect.Effect<TLSSocket, Hangup> =>
  Effect.callback((resume) => {
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["postgresql"] })
    const failed = () => resume(new Hangup({ event: "tls_failed" }))
    secure.once("close", failed)
    // Stays for the life of the socket: an error without a listener would end the process.
    secure.on("error", failed)
    secure.once("secure", () => {
      secure.off("close", failed)
      resume(Effect.succeed(secure))
    })
    return Effect.sync(() => secure.destroy())
  })
