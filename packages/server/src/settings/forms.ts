/**
 * The forms of variables: how a text is read, and how a default is written. A text that does not have the form fails with
 * what it must be instead, to stand after "must be".
 *
 * No failure repeats the text that was given: it may be a secret.
 */
import { isIP } from "node:net"
import { type Cidr, isHostName, isProxyDomain, isRegionId, normalizeEmail, parseCidrOrAddress } from "@narthex/core"
import { OpenIdProvider, readMasterSecret } from "@narthex/http"
import { formOfSchema, isSchemaName, readConnectionUrl } from "@narthex/postgres"
import { Duration, Option, Redacted, Result, Schema, SchemaIssue } from "effect"

export interface Form<A> {
  readonly read: (text: string) => Result.Result<A, string>
}

/** A form that can also write a value as the text that reads as it: defaults are shown so. */
export interface TextForm<A> extends Form<A> {
  readonly write: (value: A) => string
}

/** Reads the text; `expected` is the failure when `read` gives `undefined`. */
const form = <A>(
  expected: string,
  read: (text: string) => A | undefined,
  write: (value: A) => string = String
): TextForm<A> => ({
  read: (text) => {
    const value = read(text)
    return value === undefined ? Result.fail(expected) : Result.succeed(value)
  },
  write
})

const either = (all: ReadonlyArray<string>) => all.map((word) => `"${word}"`).join(" or ")

export const words = <const W extends string>(...allowed: ReadonlyArray<W>): TextForm<W> =>
  form(either(allowed), (text) => allowed.find((word) => word === text))

const levels = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"] as const

/** Effect's log levels in lower case. */
export const logLevel: TextForm<(typeof levels)[number]> = form(
  either(levels.map((level) => level.toLowerCase())),
  (text) => levels.find((level) => level.toLowerCase() === text),
  (level) => level.toLowerCase()
)

export const flag: TextForm<boolean> = form(either(["true", "false"]), (text) =>
  text === "true" ? true : text === "false" ? false : undefined
)

const whole = (text: string) => (/^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined)

const between = (least: number, most: number) => (text: string) => {
  const value = whole(text)
  return value !== undefined && value >= least && value <= most ? value : undefined
}

/** 0 takes a free one. */
export const port: TextForm<number> = form("a port from 0 to 65535", between(0, 65_535))

export const count: TextForm<number> = form("a whole number of at least 1", between(1, 1_000_000_000))

/** `auto`: as many as the machine has cores. */
export const processes: TextForm<number | "auto"> = form('a whole number from 1 to 256, or "auto"', (text) =>
  text === "auto" ? text : between(1, 256)(text)
)

const byteUnits = [
  ["TiB", 1024 ** 4],
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024]
] as const

/** A size in bytes, written in the largest unit that gives a whole number: `200 GiB`. */
export const bytes: TextForm<number> = form(
  'a size like "200 GiB"',
  (text) => {
    const [, digits = "", name] = /^(\d{1,10}) ?(\w{3})$/.exec(text) ?? []
    const unit = byteUnits.find(([known]) => known === name)
    const value = (whole(digits) ?? 0) * (unit?.[1] ?? 0)
    return value >= 1 && Number.isSafeInteger(value) ? value : undefined
  },
  (value) => {
    const [name, unit] = byteUnits.find(([, unit]) => value % unit === 0) ?? ["bytes", 1]
    return `${value / unit} ${name}`
  }
)

export const percent: TextForm<number> = form("a whole number from 1 to 100", between(1, 100))

export const hops: TextForm<number> = form("a whole number from 0 to 16", between(0, 16))

const units = [
  ["hour", Duration.hours(1)],
  ["minute", Duration.minutes(1)],
  ["second", Duration.seconds(1)],
  ["milli", Duration.millis(1)]
] as const

/** In the largest unit that gives a whole number: `15 minutes`. */
const writeDuration = (value: Duration.Duration): string => {
  const millis = Duration.toMillis(value)
  const [name, unit] = units.find(([, unit]) => millis % Duration.toMillis(unit) === 0) ?? units[3]
  const count = millis / Duration.toMillis(unit)
  return `${count} ${name}${count === 1 ? "" : "s"}`
}

/** At least a millisecond, and finite. */
export const duration: TextForm<Duration.Duration> = form(
  'a length of time like "15 minutes"',
  (text) => {
    // `fromInput` decides at run time whether the text is one of its own form.
    const value = Option.getOrUndefined(Duration.fromInput(text as Duration.Input))
    return value !== undefined && Duration.isFinite(value) && Duration.toMillis(value) >= 1 ? value : undefined
  },
  writeDuration
)

/** From one second to `most`. */
export const durationUpTo = (most: Duration.Duration): TextForm<Duration.Duration> => {
  const minimum = Duration.seconds(1)
  return form(
    `a length of time from 1 second to ${writeDuration(most)}`,
    (text) => {
      const value = Result.getOrUndefined(duration.read(text))
      return value !== undefined && Duration.between(value, { minimum, maximum: most }) ? value : undefined
    },
    writeDuration
  )
}

export const path: TextForm<string> = form("a path", (text) =>
  text.trim() === "" || text.includes("\0") ? undefined : text
)

export const host: TextForm<string> = form("an IP address or a host name", (text) =>
  isIP(text) !== 0 || isHostName(text) ? text : undefined
)
/** `host:port`, with an IPv6 address in brackets. */
export const address: TextForm<{ readonly host: string; readonly port: number }> = form(
  "an address like proxy.internal:5442",
  (text) => {
    const [, bracketed, plain = "", digits = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
    const named = Result.getOrUndefined(host.read(bracketed ?? plain))
    const number = between(1, 65_535)(digits)
    return named === undefined || number === undefined ? undefined : { host: named, port: number }
  },
  ({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`
)
export const domain: TextForm<string> = form("a domain name", (text) =>
  isProxyDomain(text) ? text.toLowerCase() : undefined
)

const webUrl = (text: string) => {
  const url = URL.parse(text)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
  return plain && !/[?#\s]/.test(text) ? url : undefined
}

/** Without a slash at the end, since paths are appended. */
export const baseUrl: TextForm<string> = form("an http or https URL without query and fragment", (text) =>
  webUrl(text) === undefined ? undefined : text.replace(/\/+$/, "")
)

export const origin: TextForm<string> = form("an http or https origin, without a path", (text) => {
  const url = webUrl(text)
  return url?.pathname === "/" ? url.origin : undefined
})

export const postgresUrl = (text: string) =>
  Option.getOrUndefined(
    Option.map(Result.getSuccess(readConnectionUrl(text)), (url) => Redacted.make(url, { label: "database URL" }))
  )

const oneServer =
  "a postgres:// or postgresql:// URL with one host (for several servers, an address that leads to the primary), or postgresql:///name?host=/directory&user=name for a Unix socket"

export const databaseUrl: Form<Redacted.Redacted> = form(oneServer, postgresUrl)

export const listenUrl: Form<Redacted.Redacted | "off"> = form(`${oneServer}, or "off"`, (text) =>
  text === "off" ? "off" : postgresUrl(text)
)

export const schema: TextForm<string> = form(formOfSchema, (text) => (isSchemaName(text) ? text : undefined))

export const masterSecret: Form<Redacted.Redacted> = form("32 bytes as base64url (43 characters)", readMasterSecret)

/** Sent in a header. */
export const token: Form<Redacted.Redacted> = form("visible ASCII characters without spaces", (text) =>
  /^[\x21-\x7e]+$/.test(text) ? Redacted.make(text, { label: "token" }) : undefined
)

export const headers: Form<Redacted.Redacted> = form("name=value pairs, separated by commas", (text) =>
  /^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/.test(text) ? Redacted.make(text, { label: "telemetry headers" }) : undefined
)

type NonEmpty<A> = readonly [A, ...ReadonlyArray<A>]

const writeList =
  <A>(item: TextForm<A>) =>
  (items: ReadonlyArray<A>) =>
    items.length === 0 ? "none" : items.map(item.write).join(",")

/** A comma-separated list of one or more. An empty place is a mistake: what was meant is unknown. */
export const nonEmptyList = <A>(expected: string, item: TextForm<A>): TextForm<NonEmpty<A>> => ({
  read: (text) => {
    const [first = "", ...others] = text.split(",").map((part) => part.trim())
    return Result.all([item.read(first), Result.all(others.map(item.read))]).pipe(
      Result.map(([head, tail]): NonEmpty<A> => [head, ...tail]),
      Result.mapError(() => `a comma-separated list of ${expected}`)
    )
  },
  write: writeList(item)
})

/** The same for a default that may be empty, written as `none`. */
export const list = <A>(expected: string, item: TextForm<A>): TextForm<ReadonlyArray<A>> => ({
  read: nonEmptyList(expected, item).read,
  write: writeList(item)
})

/** Two of the same form, separated by a comma. */
export const pair = <A>(expected: string, item: TextForm<A>): TextForm<readonly [A, A]> => ({
  read: (text) => {
    const [first = "", second = "", ...more] = text.split(",").map((part) => part.trim())
    const both = Result.all([item.read(first), item.read(second)])
    return more.length === 0 && Result.isSuccess(both) ? both : Result.fail(`two ${expected}, separated by a comma`)
  },
  write: writeList(item)
})

export const network: TextForm<Cidr> = form("a network", (text) => Result.getOrUndefined(parseCidrOrAddress(text)))

/** `user@dom`, or `@dom` for every address of the domain. */
export const allowlistEntry: TextForm<string> = form("user@dom or @dom, without wildcards", (text) =>
  text.includes("*") || normalizeEmail(text.startsWith("@") ? `x${text}` : text) === undefined ? undefined : text
)

/** A label of the endpoints' host names. */
export const region: TextForm<string> = form("a region", (text) => (isRegionId(text) ? text : undefined))

export const computeAddress: TextForm<string> = form("host:port, or the absolute path of a socket", (text) =>
  /^(\/[^\0]+|[^\s/:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5})$/.test(text) ? text : undefined
)

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** A JSON list. Failures name the place and what is expected there, never the value. */
export const jsonList = <A, I>(things: string, list: Schema.Codec<A, I>): Form<A> => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(list), { errors: "all", onExcessProperty: "error" })
  return {
    read: (text) =>
      Result.mapError(decode(text), ({ issue }) => {
        const issues = issuesOf(issue).issues.map(({ message, path = [] }) => {
          const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
          return place === "" ? message : `${place}: ${message}`
        })
        return `a JSON list of ${things} (${issues.join("; ")})`
      })
  }
}

export const providers: Form<ReadonlyArray<OpenIdProvider>> = jsonList("providers", Schema.Array(OpenIdProvider))
