/**
 * A connection to a compute on behalf of an admitted client: over a Unix socket, in plaintext where the operator has accepted
 * that, or over TLS that is verified.
 *
 * Pitfall: reading what follows the server's `S` as plaintext. A third party could have put it before the TLS handshake
 * (CVE-2021-23222), so bytes there end the attempt.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { RunningCompute } from "@narthex/api"
import { Data } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Cancel } from "../control-plane/Run.ts"
import { ComputeSocket } from "./ComputeSocket.ts"

/** No compute answers at the address. */
export class ComputeGone extends Data.TaggedError("ComputeGone")<{ readonly reason: string }> {}

/** A connection, which has at most one socket to a compute and closes it when it ends. */
export interface Dialler {
  compute: { readonly socket: Socket } | undefined
}

/** How to reach a compute. */
export type Reachable = Pick<RunningCompute, "address" | "tls">

/** Parses a compute address: an absolute path is a Unix socket, anything else is `host:port`. */
export const target = (address: string): { path: string } | { host: string; port: number } => {
  if (address.startsWith("/")) return { path: address }
  const colon = address.lastIndexOf(":")
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) }
}

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const accepted = 0x53
/** How long a compute may take until it can be written to, in milliseconds. */
const patience = 5_000

/**
 * Connects. `done` gets the socket once the startup packet or a cancel request can be written, or the reason why not. A
 * cancel closes the socket; `done` is then not called.
 */
export const connectCompute = (
  _admitted: Admitted,
  { address, tls }: Reachable,
  dialler: Dialler,
  done: (outcome: ComputeSocket | ComputeGone) => void
): Cancel => {
  const to = target(address)
  const connecting = tls == null || "path" in to ? plain(to) : verified(to, tls)
  dialler.compute = connecting
  const settle = () => {
    clearTimeout(timer)
    connecting.settle()
  }
  const cancel = () => {
    settle()
    connecting.socket.destroy()
    dialler.compute = undefined
  }
  const gone = (reason: string) => {
    cancel()
    done(new ComputeGone({ reason }))
  }
  connecting.begin(gone, (server) => {
    settle()
    dialler.compute = server
    done(server)
  })
  const timer = setTimeout(gone, patience, "no connection within 5 s")
  return cancel
}

/** A socket that is on its way to be written to. */
interface Connecting {
  readonly socket: Socket
  readonly begin: (gone: (reason: string) => void, ready: (server: ComputeSocket) => void) => void
  /** No listener of the attempt is left. */
  readonly settle: () => void
}

const ignore = () => {}

/** Listens for what ends an attempt. Returns how to stop, after which an error of the socket is ignored. */
const listenForEnd = (socket: Socket, gone: (reason: string) => void): (() => void) => {
  const onError = (cause: NodeJS.ErrnoException) => gone(cause.code ?? cause.message)
  const onClose = () => gone("the compute closed the connection")
  socket.on("error", onError).on("end", onClose).on("close", onClose)
  return () => {
    socket.off("error", onError).off("end", onClose).off("close", onClose)
    // An error event without a listener terminates the process.
    socket.on("error", ignore)
  }
}

const plain = (to: ReturnType<typeof target>): Connecting => {
  const server = new ComputeSocket({ ...to, allowHalfOpen: true, noDelay: true })
  const { socket } = server
  let settle = ignore
  return {
    socket,
    settle: () => settle(),
    begin: (gone, ready) => {
      const onConnect = () => ready(server)
      const stop = listenForEnd(socket, gone)
      socket.once("connect", onConnect)
      settle = () => {
        stop()
        socket.off("connect", onConnect)
      }
    }
  }
}

/** Where the certificate has another name than the host, as an IP address that changes, `server_name` says so. */
const verified = (
  { host, port }: { host: string; port: number },
  { ca, server_name = host }: NonNullable<Reachable["tls"]>
): Connecting => {
  const socket = connectTcp({ host, port, noDelay: true, allowHalfOpen: true })
  let settle = ignore
  return {
    socket,
    settle: () => settle(),
    begin: (gone, ready) => {
      const stop = listenForEnd(socket, gone)
      const secure = (answer: Buffer) => {
        if (answer[0] !== accepted || answer.length > 1) return gone("the server does not speak TLS")
        const secured = connectTls({
          socket,
          host: server_name,
          ...(isIP(server_name) === 0 ? { servername: server_name } : {}),
          ...(ca === null ? {} : { ca }),
          ALPNProtocols: ["postgresql"]
        })
        const stopSecured = listenForEnd(secured, gone)
        secured.once("secureConnect", () => ready(new ComputeSocket({ secured })))
        settle = () => {
          stop()
          stopSecured()
        }
      }
      socket.once("connect", () => void socket.write(sslRequest)).once("data", secure)
      settle = () => {
        stop()
        socket.off("data", secure)
      }
    }
  }
}
