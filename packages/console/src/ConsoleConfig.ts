/**
 * What the console is told. It reads no environment: whoever composes the platform does, and hands it over here.
 */
import { Context, Duration, type Redacted } from "effect"

/** An identity provider as the console signs people in with it. */
export interface SignInProvider {
  /** The API's id of the provider. */
  readonly id: string
  /** What its button says. */
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  /** Left out: a public client, which PKCE alone protects. */
  readonly client_secret?: Redacted.Redacted | undefined
}

export interface ConsoleConfig {
  /** Where the API is, without `/v1`. */
  readonly api_url: string
  /** The console's own origin, as browsers know it. `https` decides about cookies and HSTS. */
  readonly console_url: string
  /** Proves to the API that it is the console which reports a client's address; `null`: it reports none. */
  readonly console_token: Redacted.Redacted | null
  /** 32 bytes, the same on every instance. */
  readonly cookie_key: Redacted.Redacted<Uint8Array>
  readonly providers: ReadonlyArray<SignInProvider>
  /** How many `X-Forwarded-For` entries are believed, counted from the right. */
  readonly trusted_hops: number
  /** The API's heartbeat on event streams: a relay that hears nothing for longer has lost its API. */
  readonly heartbeat?: Duration.Duration
}

export class ConsoleSettings extends Context.Service<
  ConsoleSettings,
  ConsoleConfig & {
    /** The console's origin in its one spelling: no path, no trailing slash. */
    readonly origin: string
    readonly secure: boolean
    readonly heartbeat: Duration.Duration
  }
>()("@narthex/console/ConsoleSettings") {
  static from(config: ConsoleConfig): ConsoleSettings["Service"] {
    const { origin, protocol } = new URL(config.console_url)
    return {
      ...config,
      api_url: config.api_url.replace(/\/+$/, ""),
      origin,
      secure: protocol === "https:",
      heartbeat: config.heartbeat ?? Duration.seconds(15)
    }
  }
}

/** Where a provider sends the browser back to. It must be registered there, letter for letter. */
export const callbackUrl = (consoleUrl: string): string => `${new URL(consoleUrl).origin}/sign-in/callback`
