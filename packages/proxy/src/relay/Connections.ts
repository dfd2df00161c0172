/**
 * The open connections of a proxy, and how they end: connections that are being opened by `end`, relayed ones by
 * a FATAL at a message boundary.
 */
import { Effect } from "effect"
import type { Refusal } from "../outcomes/Refusal.ts"
import type { Relay } from "./Relay.ts"

/** A connection before RELAY. */
export interface Opening {
  readonly end: (why: Refusal) => void
}

export class Connections {
  readonly openings = new Set<Opening>()
  readonly relays = new Set<Relay>()
  /** Set when the proxy begins to drain: why connections end. */
  draining: Refusal | undefined
  #open = 0
  #onEmpty: (() => void) | undefined

  /** A connection is open from ACCEPT until `closed`. */
  opened(): void {
    this.#open++
  }

  closed(): void {
    this.#open--
    if (this.#open === 0) this.#onEmpty?.()
  }

  /** Waits until no connection is open. */
  readonly empty: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#open === 0) return resume(Effect.void)
    this.#onEmpty = () => resume(Effect.void)
    return Effect.sync(() => {
      this.#onEmpty = undefined
    })
  })

  /** Refuses connections that are being opened, also later ones, and cuts sessions when they are idle. */
  drain(refusal: Refusal, fatal: Buffer): void {
    this.draining = refusal
    for (const opening of [...this.openings]) opening.end(refusal)
    for (const relay of [...this.relays]) relay.cutWhenIdle(fatal)
  }

  /** Cuts every session at its next message boundary. */
  cut(fatal: Buffer): void {
    for (const relay of [...this.relays]) relay.cut(fatal)
  }

  /** Closes every session without a word. */
  destroy(): void {
    for (const relay of [...this.relays]) relay.destroy()
  }
}
