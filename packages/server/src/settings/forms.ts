/**
 * How the text of a variable is read: a value, or what it must be instead, to stand after "must be".
 *
 * Nothing here repeats the text that was given: it may be a secret.
 */
import { isIP } from "node:net"
import { type Cidr, normalizeEmail, parseCidrOrAddress } from "@narthex/core"
import { OpenIdProvider, readMasterSecret } from "@narthex/http"
import { Duration, Option, Redacted, Result, Schema, SchemaIssue } from "effect"

export type Form<A> = (text: string) => Result.Result<A, string>

/** Reads the text, or says what was expected when that gives `undefined`. */
const form =
  <A>(expected: string, read: (text: string) => A | undefined): Form<A> =>
  (text) => {
    const value = read(text)
    return value === undefined ? Result.fail(expected) : Result.succeed(value)
  }

const either = (all: ReadonlyArray<string>) => all.map((word) => `"${word}"`).join(" or ")

export const words = <const W extends string>(...allowed: ReadonlyArray<W>): Form<W> =>
  form(either(allowed), (text) => allowed.find((word) => word === text))

export const flag: Form<boolean> = form(either(["true", "false"]), (text) =>
  text === "true" ? true : text === "false" ? false : undefined
)

const whole = (text: string) => (/^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined)

const between = (least: number, most: number) => (text: string) => {
  const value = whole(text)
  return value !== undefined && value >= least && value <= most ? value : undefined
}

/** 0 takes a free one. */
export const port: Form<number> = form("a port from 0 to 65535", between(0, 65_535))

export const count: Form<number> = form("a whole number of at least 1", between(1, 1_000_000_000))

export const hops: Form<number> = form("a whole number from 0 to 16", between(0, 16))

/** At least a millisecond, and not for ever. */
export const duration: Form<Duration.Duration> = form('a length of time like "15 minutes"', (text) => {
  // `fromInput` decides at run time whether the text is one of its own form.
  const value = Option.getOrUndefined(Duration.fromInput(text as Duration.Input))
  return value !== undefined && Duration.isFinite(value) && Duration.toMillis(value) >= 1 ? value : undefined
})

export const durationUpTo = (most: Duration.Duration, said: string): Form<Duration.Duration> => {
  const least = Duration.seconds(1)
  return form(`a length of time from 1 second to ${said}`, (text) => {
    const value = Result.getOrUndefined(duration(text))
    return value !== undefined && Duration.between(value, { minimum: least, maximum: most }) ? value : undefined
  })
}

export const path: Form<string> = form("a path", (text) =>
  text.trim() === "" || text.includes("\0") ? undefined : text
)

export const host: Form<string> = form("an IP address or a host name", (text) =>
  isIP(text) !== 0 || hostName.test(text) ? text : undefined
)
const hostName =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/

export const domain: Form<string> = form("a domain name", (text) =>
  hostName.test(text) && isIP(text) === 0 ? text.toLowerCase() : undefined
)

const webUrl = (text: string) => {
  const url = URL.parse(text)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
  return plain && !/[?#\s]/.test(text) ? url : undefined
}

/** Without a slash at the end, since paths are appended. */
export const baseUrl: Form<string> = form("an http or https URL without query and fragment", (text) =>
  webUrl(text) === undefined ? undefined : text.replace(/\/+$/, "")
)

export const origin: Form<string> = form("an http or https origin, without a path", (text) => {
  const url = webUrl(text)
  return url?.pathname === "/" ? url.origin : undefined
})

const postgresUrl = (text: string) => {
  const url = URL.parse(text)
  return url !== null && /^postgres(ql)?:$/.test(url.protocol)
    ? Redacted.make(text, { label: "database URL" })
    : undefined
}

export const databaseUrl: Form<Redacted.Redacted> = form("a postgres:// or postgresql:// URL", postgresUrl)

export const listenUrl: Form<Redacted.Redacted | "off"> = form(
  'a postgres:// or postgresql:// URL, or "off"',
  (text) => (text === "off" ? "off" : postgresUrl(text))
)

export const masterSecret: Form<Redacted.Redacted> = form("32 bytes as base64url (43 characters)", readMasterSecret)

/** It travels in a header. */
export const token: Form<Redacted.Redacted> = form("visible ASCII characters without spaces", (text) =>
  /^[\x21-\x7e]+$/.test(text) ? Redacted.make(text, { label: "token" }) : undefined
)

export const headers: Form<Redacted.Redacted> = form("name=value pairs, separated by commas", (text) =>
  /^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/.test(text) ? Redacted.make(text, { label: "telemetry headers" }) : undefined
)

/** A comma-separated list, of at least one. An empty place is a mistake: it is not known what was meant. */
export const list =
  <A>(expected: string, item: Form<A>): Form<ReadonlyArray<A>> =>
  (text) =>
    Result.mapError(
      Result.all(text.split(",").map((part) => item(part.trim()))),
      () => `a comma-separated list of ${expected}`
    )

export const network: Form<Cidr> = form("a network", (text) => Result.getOrUndefined(parseCidrOrAddress(text)))

/** `user@dom`, or `@dom` for everybody there. */
export const allowlistEntry: Form<string> = form("user@dom or @dom", (text) =>
  normalizeEmail(text.startsWith("@") ? `x${text}` : text) === undefined ? undefined : text
)

/** A label of the endpoints' host names. */
export const region: Form<string> = form("a region", (text) =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text) ? text : undefined
)

export const computeAddress: Form<string> = form("host:port, or the absolute path of a socket", (text) =>
  /^(\/[^\0]+|[^\s/:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5})$/.test(text) ? text : undefined
)

const decodeProviders = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Array(OpenIdProvider)), {
  errors: "all",
  onExcessProperty: "error"
})
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** Issues name the place and what is expected there, never the value. */
export const providers: Form<ReadonlyArray<OpenIdProvider>> = (text) =>
  Result.mapError(decodeProviders(text), ({ issue }) => {
    const issues = issuesOf(issue).issues.map(({ message, path = [] }) => {
      const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
      return place === "" ? message : `${place}: ${message}`
    })
    return `a JSON list of providers (${issues.join("; ")})`
  })
