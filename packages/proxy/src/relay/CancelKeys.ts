/**
 * CANCEL: which compute a cancel key belongs to, and how the request gets there.
 *
 * A cancel request is a connection of its own, without a user name or password. It must pass the allowlist like any
 * other. It wakes no compute, because a compute that does not run has no query to cancel. It may reach any proxy: keys are those
 * of proxies, and one that does not know a key hands its digest to the others.
 */
import { createHash } from "node:crypto"
import type { EndpointId, ProjectId } from "@narthex/core"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import { ComputeGone, connectCompute, type Dialler, type Reachable } from "../compute/connectCompute.ts"
import type { Cancel } from "../control-plane/Run.ts"

export interface CancelTarget {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly compute: Reachable
  /** The compute's own key of the session. */
  readonly key: Buffer
}

/** The hash by which proxies name a cancel key to each other. */
export const hashOf = (key: Buffer): string => createHash("sha256").update(key).digest("hex")

export class CancelKeys {
  readonly #targets = new Map<string, CancelTarget>()

  /** Stores the session of a key. Returns how to remove it. */
  add(key: Buffer, target: CancelTarget): () => void {
    const hash = hashOf(key)
    this.#targets.set(hash, target)
    return () => void this.#targets.delete(hash)
  }

  find(hash: string): CancelTarget | undefined {
    return this.#targets.get(hash)
  }
}

const cancelCode = 80_877_102
/** In milliseconds. */
const patience = 5_000

const packetOf = (key: Buffer): Buffer => {
  const packet = Buffer.allocUnsafe(8 + key.length)
  packet.writeUInt32BE(packet.length, 0)
  packet.writeUInt32BE(cancelCode, 4)
  key.copy(packet, 8)
  return packet
}

/**
 * Sends the request to the compute and waits, at most 5 s, until the compute closes the connection: its only answer.
 */
export const forwardCancel = (
  admitted: Admitted,
  { compute, key }: CancelTarget,
  dialler: Dialler,
  done: (ended: undefined) => void
): Cancel => {
  let timer: NodeJS.Timeout | undefined
  const cancel = connectCompute(admitted, compute, dialler, (server) => {
    if (server instanceof ComputeGone) return done(undefined)
    const { socket } = server
    timer = setTimeout(() => void socket.destroy(), patience)
    socket
      .on("error", () => {})
      .once("close", () => {
        clearTimeout(timer)
        done(undefined)
      })
    socket.resume().end(packetOf(key))
  })
  return () => {
    clearTimeout(timer)
    cancel()
  }
}
