/**
 * CANCEL: which compute a cancel key belongs to, and how the request gets there.
 *
 * A cancel request is a connection of its own, without a user name or password. It must pass the allowlist like any
 * other. It wakes no compute, because a compute that does not run has no query to cancel.
 */
import type { EndpointId, ProjectId } from "@narthex/core"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Cancel } from "../control-plane/Run.ts"
import { openSocket } from "./dial.ts"

export interface CancelTarget {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly address: string
}

export class CancelKeys {
  readonly #targets = new Map<string, CancelTarget>()

  /** Stores the compute of a key. Returns how to remove it. */
  add(key: Buffer, target: CancelTarget): () => void {
    const text = key.toString("hex")
    this.#targets.set(text, target)
    return () => {
      if (this.#targets.get(text) === target) this.#targets.delete(text)
    }
  }

  find(key: Buffer): CancelTarget | undefined {
    return this.#targets.get(key.toString("hex"))
  }
}

/** In milliseconds. */
const patience = 5_000

/**
 * Forwards the packet to the compute and waits, at most 5 s, until the compute closes the connection: its only answer.
 */
export const forwardCancel = (
  admitted: Admitted,
  target: CancelTarget,
  packet: Buffer,
  done: (ended: undefined) => void
): Cancel => {
  const { socket } = openSocket(admitted, target.address)
  const timer = setTimeout(() => void socket.destroy(), patience)
  socket
    .on("error", () => {})
    .once("close", () => {
      clearTimeout(timer)
      done(undefined)
    })
  socket.resume().end(packet)
  return () => {
    clearTimeout(timer)
    socket.destroy()
  }
}
