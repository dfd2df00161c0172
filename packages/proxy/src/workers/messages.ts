/**
 * What the processes of a proxy with workers tell each other: JSON over the channel of Node. Both are of one version,
 * because the workers are started by the process that they talk to, from the same files.
 *
 * A connection has a number, which the parent gives it. A question has a number of its asker, and the answer repeats it.
 */
import type { EndpointId, OrgId } from "@narthex/core"
import type { CancelTarget } from "../connection/CancelKeys.ts"
import type { Entered, Limit } from "../connection/Claims.ts"
import type { ProxyConfig } from "../ProxyConfig.ts"

/** What a worker is started with. `host` and `port` are the parent's, and so are the limits. */
export type WorkerConfig = Omit<ProxyConfig, "host" | "port" | "limits">

/** Questions of a worker, and the answer to each. */
export type WorkerQuestions = {
  readonly handshake: { readonly asks: { readonly connection: number; readonly peer: string }; readonly gets: boolean }
  readonly enter: {
    readonly asks: {
      readonly connection: number
      readonly endpoint_id: EndpointId
      readonly org_id: OrgId | null
      readonly peer: string
      readonly user: string
    }
    readonly gets: Entered | Limit
  }
  readonly mayWake: { readonly asks: { readonly connection: number }; readonly gets: boolean }
  readonly cancelTarget: { readonly asks: { readonly key: string }; readonly gets: CancelTarget | null }
}

/** Questions of the parent. */
export type ParentQuestions = {
  readonly cancelTarget: { readonly asks: { readonly key: string }; readonly gets: CancelTarget | null }
  /** Its metrics in the format of Prometheus. */
  readonly metrics: { readonly asks: object; readonly gets: string }
}

export type Questions = { readonly [about: string]: { readonly asks: object; readonly gets: unknown } }

export type Asked<Q extends Questions> = {
  readonly [About in keyof Q]: {
    readonly _tag: "Asked"
    readonly question: number
    readonly about: About
    readonly asks: Q[About]["asks"]
  }
}[keyof Q]

export interface Answered {
  readonly _tag: "Answered"
  readonly question: number
  readonly answer: unknown
}

export type FromWorker =
  | Asked<WorkerQuestions>
  | Answered
  /** It serves connections. */
  | { readonly _tag: "Ready" }
  /** It has the socket of the connection that it was sent. */
  | { readonly _tag: "Taken"; readonly connection: number }
  | { readonly _tag: "Relayed" | "Authenticated" | "Closed"; readonly connection: number }

export type FromParent =
  | Asked<ParentQuestions>
  | Answered
  /** The first message. `setup` is what the program of the worker needs in addition. */
  | { readonly _tag: "Start"; readonly config: WorkerConfig; readonly setup: unknown }
  /** With a socket. `counted`: the handshake has been counted. */
  | { readonly _tag: "Connection"; readonly connection: number; readonly counted: boolean }
  /** The client has not authenticated in time. */
  | { readonly _tag: "Evicted"; readonly connection: number }
  | { readonly _tag: "Drain" }
