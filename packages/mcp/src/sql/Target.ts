/** Where a connection string leads. The password stays redacted; nothing here is printed. */
import { Option, Redacted } from "effect"

export interface Target {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: Redacted.Redacted
  readonly database: string
  /** The startup parameter `options`, which names the endpoint where its host name cannot. */
  readonly options: string | undefined
  readonly tls: boolean
}

/** Reads a connection string as the API makes it; none for any other text. */
export const targetOf = (uri: Redacted.Redacted): Option.Option<Target> => {
  const text = Redacted.value(uri)
  if (!URL.canParse(text)) return Option.none()
  const { hostname, password, pathname, port, protocol, searchParams, username } = new URL(text)
  if (protocol !== "postgresql:" || hostname === "" || username === "") return Option.none()
  return Option.some({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? 5432 : Number(port),
    user: decodeURIComponent(username),
    password: Redacted.make(decodeURIComponent(password)),
    database: decodeURIComponent(pathname.slice(1)),
    options: searchParams.get("options") ?? undefined,
    tls: searchParams.get("sslmode") === "require"
  })
}
