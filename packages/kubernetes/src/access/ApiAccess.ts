/** How an API server is reached, and as whom. */
import type { Effect, Redacted } from "effect"
import type { KubernetesUnusable } from "./KubernetesUnusable.ts"

export interface ApiAccess {
  /** `https://host:port`, or `http://` for a proxy on this machine that logs in by itself. */
  readonly server: string
  /** PEM text of the authority; left out: the system's. */
  readonly ca?: string | undefined
  /** PEM texts of a client certificate. */
  readonly certificate?: { readonly cert: string; readonly key: Redacted.Redacted } | undefined
  /** A bearer token. It is asked for with each call, because a token that is mounted into a pod changes. */
  readonly token?: Effect.Effect<Redacted.Redacted, KubernetesUnusable> | undefined
  /** The namespace of this process, where it runs in the cluster. */
  readonly ownNamespace?: string | undefined
}
