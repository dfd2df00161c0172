/**
 * The forms of a connection URL. The driver reads those that a URL parser reads. Two of libpq's
 * other forms matter: a user before an empty host is rewritten, and a list of hosts is refused, because the driver connects to
 * one address.
 */
import { Result } from "effect"

export const formOfUrl =
  "Expected postgresql://user:password@host:5432/database with one host, and with special characters of user and password percent-encoded. A Unix socket is postgresql:///database?host=/directory&user=name."

const severalHosts =
  "the URL names several hosts. Name one address that leads to the primary, as postgresql://user:password@host:5432/database."

/** The user and the password of `postgresql://user:password@/database`, which URL parsers refuse, as parameters. */
const withHost = (text: string): string => {
  const [, scheme, user, password, rest = ""] =
    /^(postgres(?:ql)?:\/\/)([^/?#@:]+)(?::([^/?#@]*))?@((?:\/|\?|$).*)$/i.exec(text) ?? []
  if (scheme === undefined || user === undefined) return text
  // A plus sign is itself before the @, and a space in a query.
  const part = (name: string, value: string) => `${name}=${value.replaceAll("+", "%2B").replaceAll("&", "%26")}`
  const parts = [part("user", user), ...(password === undefined ? [] : [part("password", password)])].join("&")
  return `${scheme}${rest}${rest.includes("?") ? "&" : "?"}${parts}`
}

const namesSeveral = (text: string): boolean => {
  const [, authority = "", query = ""] = /^[a-z]+:\/\/([^/?#]*)[^?#]*\??([^#]*)/i.exec(text) ?? []
  const hosts = [authority.slice(authority.lastIndexOf("@") + 1), ...new URLSearchParams(query).getAll("host")]
  return hosts.some((host) => host.includes(","))
}

/** The URL as the driver reads it, or what is wrong with it as a sentence. It quotes nothing, because a URL has a password. */
export const readConnectionUrl = (text: string): Result.Result<string, string> => {
  if (namesSeveral(text)) return Result.fail(severalHosts)
  const url = withHost(text)
  return /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url)
    ? Result.succeed(url)
    : Result.fail(`the URL is unusable. ${formOfUrl}`)
}
