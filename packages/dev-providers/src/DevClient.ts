/**
 * The client of the development providers: the console. It stands apart from the library's configuration, whose types
 * are those of `oidc-provider`, which has none of its own.
 */
import type { Redacted } from "effect"

export interface DevClient {
  readonly clientId: string
  /** Absent: a public client, protected by PKCE alone. */
  readonly clientSecret?: Redacted.Redacted<string> | undefined
  /** The addresses that a sign-in may return to, compared exactly. */
  readonly redirectUris: ReadonlyArray<string>
}
