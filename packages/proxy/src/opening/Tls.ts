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
import type { Cancel } from "../control-plane/Run.ts"
import { serverEndPoint } from "../scram/channelBinding.ts"

export interface TlsFiles {
  /** Paths of PEM files: the certificate chain and its private key. */
  readonly cert: string
  readonly key: string
  /** Whether plaintext is refused with 28000. Default: no. */
  readonly required?: boolean | undefined
}

/** The certificate or its key is missing or invalid. */
export class UnusableCertificate extends Data.TaggedError("UnusableCertificate")<{ readonly reason: string }> {}

/** The TLS context of a handshake, and the data that bind authentication to it (`serverEndPoint`). */
export interface Identity {
  readonly context: SecureContext
  readonly binding: Buffer | undefined
}

export interface Tls {
  readonly required: boolean
  /** The identity of the current files. */
  readonly identity: () => Identity
}

const stamp = (file: string) => {
  const { ino, mtimeMs, size } = statSync(file)
  return `${ino}:${size}:${mtimeMs}`
}

const stampsOf = ({ cert, key }: TlsFiles) => `${stamp(cert)} ${stamp(key)}`

const load = (files: TlsFiles) => {
  const stamps = stampsOf(files)
  const cert = readFileSync(files.cert)
  const context = createSecureContext({ cert, key: readFileSync(files.key) })
  return { stamps, identity: { context, binding: serverEndPoint(cert) } }
}

/** Loads the certificate; fails if it is unusable. A later failure is logged, once per reason. */
export const makeTls = Effect.fnUntraced(function* (files: TlsFiles) {
  let current = yield* Effect.try({
    try: () => load(files),
    catch: (cause) => new UnusableCertificate({ reason: String(cause) })
  })
  const log = Effect.runForkWith(yield* Effect.context())
  let logged = ""
  const tls: Tls = {
    required: files.required ?? false,
    identity: () => {
      try {
        if (stampsOf(files) === current.stamps) return current.identity
        current = load(files)
        logged = ""
        log(Effect.logInfo("the TLS certificate was reloaded"))
      } catch (cause) {
        const reason = String(cause)
        if (logged !== reason)
          log(Effect.logError(`the TLS certificate cannot be reloaded; the previous one stays in use: ${reason}`))
        logged = reason
      }
      return current.identity
    }
  }
  return tls
})

/**
 * The TLS handshake, on a socket whose next bytes are the ClientHello. `done` gets `undefined` if it fails. Not called
 * after a cancel.
 */
export const upgrade = (
  socket: Socket,
  secureContext: SecureContext,
  done: (secure: TLSSocket | undefined) => void
): Cancel => {
  const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["postgresql"] })
  const failed = () => done(undefined)
  secure.once("close", failed)
  // There is one for the lifetime of the socket: an error event without a listener terminates the process.
  secure.on("error", failed)
  secure.once("secure", () => {
    secure.off("close", failed).off("error", failed).on("error", ignore)
    done(secure)
  })
  return () => void secure.destroy()
}

const ignore = () => {}
