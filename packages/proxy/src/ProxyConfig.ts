/** The configuration of a proxy. */
import { Data, Duration, Effect, type Redacted } from "effect"
import type { ConnectionLimits } from "./limits/ConnectionLimiter.ts"
import { type Address, parseNetwork } from "./networks/Address.ts"
import { NetworkTrie } from "./networks/NetworkTrie.ts"
import type { TlsFiles } from "./opening/Tls.ts"

export interface ProxyConfig {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  /** The host name of an endpoint is `<endpoint id>.<region>.<domain>`. */
  readonly domain: string
  /** The region whose endpoints it serves. Default: those of every region. */
  readonly region?: string | undefined
  /** Default: plaintext only. */
  readonly tls?: TlsFiles | undefined
  /** Networks whose connections must begin with a PROXY protocol v2 header, which is trusted. Default: none. */
  readonly trusted?: ReadonlyArray<string> | undefined
  readonly allowlist?:
    | {
        /** How often allowlists and endpoints are refreshed. Default: that of `defaultProxySettings`, as below. */
        readonly refresh?: Duration.Input | undefined
        /** How long projects with rules accept connections without a control plane. */
        readonly max_stale?: Duration.Input | undefined
      }
    | undefined
  /** How long sessions may finish their transactions when the proxy drains. Default: that of `defaultProxySettings`. */
  readonly shutdown_grace?: Duration.Input | undefined
  /** Default, for each member: `defaultConnectionLimits`. */
  readonly limits?: Partial<ConnectionLimits> | undefined
  /**
   * The secret from which answers to unknown roles derive, the same for all proxies of a platform. Default: random.
   * Then two proxies answer differently for an unknown role, which shows that the role does not exist.
   */
  readonly decoy_secret?: Redacted.Redacted | undefined
  /** Whether other processes may listen on the same port, each of which gets a part of the connections. Default: no. */
  readonly reuse_port?: boolean | undefined
}

/** The defaults of `ProxyConfig`. */
export const defaultProxySettings = {
  allowlist: { refresh: Duration.seconds(30), max_stale: Duration.minutes(10) },
  shutdown_grace: Duration.seconds(10)
} as const

/** A member of `trusted` is not a network. */
export class UnreadableNetwork extends Data.TaggedError("UnreadableNetwork")<{ readonly network: string }> {
  override get message() {
    return `Trusted network "${this.network}" is not a valid CIDR or address.`
  }
}

/**
 * Milliseconds of a clock that no correction moves. It is read for every chunk that is relayed, where `Clock` would
 * allocate a bigint.
 */
export const monotonic = () => performance.now()

/** The time limit of everything up to the proof. */
export const handshakeLimit = Duration.seconds(10)

/** How long sessions may finish their transactions. */
export const graceOf = ({ shutdown_grace }: Pick<ProxyConfig, "shutdown_grace">): Duration.Duration =>
  Duration.fromInputUnsafe(shutdown_grace ?? defaultProxySettings.shutdown_grace)

/** Whether a peer must send a PROXY header that names the client. */
export const trustedPeers = Effect.fnUntraced(function* (networks: ReadonlyArray<string> = []) {
  const tries = { 4: new NetworkTrie(), 6: new NetworkTrie() }
  for (const network of networks) {
    const parsed = parseNetwork(network)
    if (parsed === undefined) return yield* new UnreadableNetwork({ network })
    tries[parsed.family].add(parsed.bytes, parsed.prefix, Number.POSITIVE_INFINITY)
  }
  return (peer: Address) => tries[peer.family].coveredUntil(peer.bytes) > 0
})
