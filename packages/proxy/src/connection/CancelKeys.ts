/**
 * CANCEL: which compute a cancel key belongs to, and carrying a cancel there.
 *
 * A cancel is a connection of its own, without a name or password: it passes the allowlist like any other, and wakes
 * nothing, because a compute that does not run has nothing to cancel.
 */
import { Effect } from "effect"
import type { EndpointId, ProjectId } from "@narthex/core"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import { openSocket } from "./dial.ts"

export interface CancelTarget {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly address: string
}

export class CancelKeys {
  readonly #targets = new Map<string, CancelTarget>()

  /** Remembers whose key this is; answers how to forget it. */
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

/** Hands the packet to the compute and waits until it has closed, which is its whole answer. */
export const forwardCancel = (admitted: Admitted, target: CancelTarget, packet: Buffer): Effect.Effect<void> =>
  openSocket(admitted, target.address).pipe(
    Effect.flatMap((socket) =>
      Effect.callback<void>((resume) => {
        socket.once("close", () => resume(Effect.void))
        socket.resume().end(packet)
      }).pipe(Effect.timeoutOption("5 seconds"))
    ),
    Effect.scoped,
    Effect.ignore
  )
