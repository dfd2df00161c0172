/** A compute that only authenticates: the server of the SCRAM exchange, and one ReadyForQuery. */
import { type AddressInfo, createServer, type Socket } from "node:net"
import { Effect } from "effect"
import { begin, type Challenge, plain } from "../../src/scram/ScramServer.ts"
import { parseVerifier } from "../../src/scram/Verifier.ts"
import { ByteQueue } from "../../src/wire/ByteQueue.ts"
import {
  authenticationOk,
  authenticationSasl,
  backendKeyData,
  encodeMessage,
  readInitialResponse,
  saslContinue,
  saslFinal,
  takeMessage
} from "../../src/wire/messages.ts"
import { role, verifierOf } from "./credentials.ts"

/** The key of each of its sessions. */
export const computeKey = Buffer.from([0, 0, 0, 1, 0, 0, 0, 2])

const ready = encodeMessage("Z", "I")

/** Deviations of the compute from Postgres. */
export interface Faults {
  /** Sends AuthenticationOk at once, as a server that trusts. */
  readonly trusts?: boolean
  /** Signs with another key, as a server that does not have the verifier. */
  readonly foreign?: boolean
  /** Accepts the proof without showing that it knows the verifier. */
  readonly silent?: boolean
}

/** Serves one client. Messages after its authentication get no answer. */
export const authenticate = (socket: Socket, { foreign = false, silent = false, trusts = false }: Faults = {}) => {
  const verifier = parseVerifier(verifierOf(role))
  if (verifier === undefined) throw new Error("The verifier cannot be read.")
  const greeting = Buffer.concat([authenticationOk, backendKeyData(computeKey), ready])
  const queue = new ByteQueue()
  let challenge: Challenge | undefined
  let begun = false
  let done = false
  const next = (): unknown => {
    if (!begun) {
      const size = queue.peek(4)?.readUInt32BE(0)
      if (size === undefined || queue.take(size) === undefined) return undefined
      begun = true
      socket.write(trusts ? greeting : authenticationSasl([plain]))
      return next()
    }
    const message = takeMessage(queue, 2_048)
    if (message === undefined || message === "unreadable") return undefined
    if (challenge === undefined) {
      const initial = readInitialResponse(message.body)
      const made = begin(verifier, initial?.mechanism ?? "", initial?.text ?? "", undefined)
      if (typeof made === "string") return socket.destroy()
      challenge = made
      socket.write(saslContinue(made.text))
    } else {
      const proof = challenge.finish(message.body.toString("latin1"))
      if (typeof proof === "string") return socket.destroy()
      done = true
      const signature = foreign ? `v=${Buffer.alloc(32).toString("base64")}` : proof.text
      socket.write(Buffer.concat([...(silent ? [] : [saslFinal(signature)]), greeting]))
    }
    return next()
  }
  socket
    .on("error", () => {})
    .on("data", (chunk) => {
      if (done) return
      queue.push(chunk)
      next()
    })
}

/** Returns the address of a compute that listens while the scope is open. */
export const scramCompute = (faults: Faults = {}) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: ReturnType<typeof createServer>; readonly address: string }>((resume) => {
      const server = createServer((socket) => authenticate(socket, faults))
      // An `AddressInfo` for a TCP server.
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
      )
    }),
    ({ server }) => Effect.sync(() => server.close())
  ).pipe(Effect.map(({ address }) => address))
