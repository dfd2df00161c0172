/** The console's configuration. The package reads no environment variables; its host passes them in here. */
import { Context, Duration, type Redacted } from "effect"
import type { HttpClient } from "effect/http"

/** An identity provider, as sign-in needs it. */
export interface SignInProvider {
  /** The API's id of the provider. */
  readonly id: string
  /** Shown on its sign-in button. */
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  /** Absent for a public client, which only PKCE protects. */
  readonly client_secret?: Redacted.Redacted | undefined
  /** How it sends its answer. Absent: in the address. */
  readonly response_mode?: "query" | "form_post" | undefined
}

export interface ConsoleConfig {
  /** Base URL of the API, without `/v1`. */
  readonly api_url: string
  /** The client that sends the calls. Default: `fetch`. In the process of the API: `DirectApi` of `@narthex/http`. */
  readonly api_client?: HttpClient.HttpClient | undefined
  /** The documentation of the API, as browsers reach it. Default: `/docs` of `api_url`. */
  readonly docs_url?: string
  /** The MCP server of the platform, as agents reach it. Default: none. */
  readonly mcp_url?: string | undefined
  /** The console's public URL. `https` turns on `Secure` cookies and HSTS. */
  readonly console_url: string
  /** Proves to the API that client addresses come from the console. With `null` none are reported. */
  readonly console_token: Redacted.Redacted | null
  /** 32 bytes, the same on every instance. */
  readonly cookie_key: Redacted.Redacted<Uint8Array>
  readonly providers: ReadonlyArray<SignInProvider>
  /** Number of trusted `X-Forwarded-For` entries, counted from the right. */
  readonly trusted_hops: number
  /** The API's heartbeat interval on event streams, from which a relay detects a dead connection. Default: 15 s. */
  readonly heartbeat?: Duration.Duration
  /** Serves `/dev/components`, the page of all components. Default: false. */
  readonly development?: boolean
}

export class ConsoleSettings extends Context.Service<
  ConsoleSettings,
  ConsoleConfig & {
    /** The origin of `console_url`: no path, no trailing slash. */
    readonly origin: string
    readonly secure: boolean
    /** With what the names of the console's cookies begin. */
    readonly cookie_name: string
    readonly docs_url: string
    readonly heartbeat: Duration.Duration
    readonly development: boolean
  }
>()("@narthex/console/ConsoleSettings") {
  static from(config: ConsoleConfig): ConsoleSettings["Service"] {
    const { origin, port, protocol } = new URL(config.console_url)
    const plain = port === "" ? "narthex" : `narthex-${port}`
    return {
      ...config,
      api_url: config.api_url.replace(/\/+$/, ""),
      docs_url: config.docs_url ?? `${config.api_url.replace(/\/+$/, "")}/docs`,
      origin,
      secure: protocol === "https:",
      cookie_name: protocol === "https:" ? "__Host-narthex" : plain,
      heartbeat: config.heartbeat ?? Duration.seconds(15),
      development: config.development ?? false
    }
  }
}

export const callbackPath = "/sign-in/callback"

/** The redirect URI of sign-in. It must be registered at each provider, character for character. */
export const callbackUrl = (consoleUrl: string): string => `${new URL(consoleUrl).origin}${callbackPath}`
