/**
 * Why Postgres cannot be used, as a sentence for the person who gave its URL (docs/design/library.md N41).
 *
 * Pitfall: quoting the URL, or what a driver says about it. Both may have the password.
 */
import type { StorageError } from "@narthex/core"
import { Result } from "effect"
import { formOfUrl, readConnectionUrl } from "./connectionUrl.ts"
import { defaultSchema } from "./ownSchema.ts"
import { UnfitServer } from "./serverFacts.ts"

export interface Unusable {
  readonly sentence: string
  /** Whether the URL or the server must be corrected. Otherwise the failure may pass. */
  readonly correct: boolean
  /** The failure, unless it contains a part of the URL that may be secret. */
  readonly cause: StorageError | undefined
}

/** The parts of a URL. Parameters of its query take precedence, as for the driver. */
const partsOf = (text: string) => {
  const url = URL.parse(text)
  const of = (parameter: string, part = "") => url?.searchParams.get(parameter) ?? part
  const host = of("host", url?.hostname) || "localhost"
  return {
    host,
    address: host.startsWith("/") ? host : `${host}:${of("port", url?.port) || "5432"}`,
    user: of("user", url?.username),
    database: of("dbname", url?.pathname.slice(1)),
    password: of("password", url?.password)
  }
}

type Parts = ReturnType<typeof partsOf>

/** Stands for a code, because the driver gives none. */
const noTls = "no TLS"

/** Migrations met an object of that name. */
const taken = ({ address }: Parts, said: string, schema: string) =>
  `the schema "${schema}" on ${address} holds an object that is not Narthex's${said}. Choose another schema for Narthex, or move that object.`

/** SQLSTATE (Postgres, appendix A) or the code of the socket → what to correct. */
const toCorrect: Readonly<Record<string, (parts: Parts, said: string, schema: string) => string>> = {
  "3D000": ({ address, database }) =>
    // A URL with a mistake may have a part of the password here.
    `the database ${/^[\w-]{1,63}$/.test(database) ? `"${database}" ` : ""}does not exist on ${address}. Create it, or correct the URL.`,
  "28P01": ({ address, user }) =>
    `Postgres on ${address} refused the password of the user "${user}". Correct the URL, with special characters percent-encoded.`,
  [noTls]: ({ address }) =>
    `Postgres on ${address} offers no TLS, and sslmode= of the URL asks for it. Switch TLS on in the server, or ask for sslmode=prefer or disable.`,
  "28000": ({ address, user }, said) =>
    `Postgres on ${address} refused the user "${user}"${said}. Correct the URL, or the access rules of the server.`,
  "42501": ({ address, user }, said) =>
    `the user "${user}" may not create tables on ${address}${said}. Grant it CREATE on the database, or create the schema and grant it USAGE and CREATE there.`,
  "42P07": taken,
  "42710": taken,
  "42723": taken,
  "25006": ({ address, user }) =>
    `Postgres on ${address} accepts no changes from the user "${user}": it is a standby, or the user is read-only. Name the primary and a user who may write.`
}

/** SQLSTATE or the code of the socket → a failure that may pass. */
const toWaitFor: Readonly<Record<string, (parts: Parts) => string>> = {
  ENOTFOUND: ({ host }) => `the host "${host}" cannot be resolved. Correct the URL, or check DNS.`,
  EAI_AGAIN: ({ host }) => `the host "${host}" cannot be resolved. Correct the URL, or check DNS.`,
  ECONNREFUSED: ({ address }) => `nothing listens on ${address}. Start Postgres, or correct the URL.`,
  ENOENT: ({ address }) => `nothing listens on ${address}. Start Postgres, or correct the URL.`,
  "57P03": ({ address }) => `Postgres on ${address} is starting or stopping. Try again.`,
  "53300": ({ address }) =>
    `Postgres on ${address} has no connection left. Use fewer connections, or raise max_connections of the server.`
}

/** Errors of the driver about a URL, which it reads when it first connects. */
const unreadable = /^(Invalid|Unsupported|Unrecognized) .*\bURL\b|^Startup parameter .* must not contain NUL/
/** The codes of TLS (Node, `tls`; OpenSSL, `X509_V_ERR`) for a certificate that this machine does not trust. */
const untrusted = /^(ERR_TLS_CERT_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_|INVALID_(CA|PURPOSE))/

/**
 * Explains a failure of the storage behind this URL. `option`: the option or variable that has the URL. `schema` has the
 * tables.
 */
export const whyUnusable =
  (url: string, option: string, schema = defaultSchema) =>
  (error: StorageError): Unusable => {
    const readable = readConnectionUrl(url)
    if (Result.isFailure(readable))
      return { sentence: `${option}: ${readable.failure}`, correct: true, cause: undefined }
    const parts = partsOf(readable.success)
    const { code: given = "", text } = error.failure
    const code = given === "" && text === "The server does not support TLS" ? noTls : given
    const secret = parts.password !== "" && [parts.password, unescaped(parts.password)].some((it) => text.includes(it))
    const said = secret || text === "" ? "" : `: ${text.replace(/\.$/, "")}`
    const cause = secret ? undefined : error
    const toBeCorrected = (sentence: string): Unusable => ({ sentence: `${option}: ${sentence}`, correct: true, cause })
    const mayPass = (sentence: string): Unusable => ({ sentence: `${option}: ${sentence}`, correct: false, cause })
    if (code === "" && unreadable.test(text)) return toBeCorrected(`the URL is unusable${said}. ${formOfUrl}`)
    if (code === "" && text === "No username configured")
      return toBeCorrected(`the URL names no user, and neither does the variable USER. ${formOfUrl}`)
    const correct = toCorrect[code]
    if (correct !== undefined) return toBeCorrected(correct(parts, said, schema))
    if (untrusted.test(code))
      return toBeCorrected(
        `the certificate of Postgres on ${parts.address} is not trusted${said}. Name its authority in NODE_EXTRA_CA_CERTS, and the host that it was made for in the URL.`
      )
    if (error.cause instanceof UnfitServer)
      return toBeCorrected(`Postgres on ${parts.address} cannot be used: ${error.cause.message}`)
    // The host that is read from such a URL may be a part of the password.
    if (/@[^?]*@|#/.test(url))
      return { ...toBeCorrected(`the URL has an @ or # that is not percent-encoded. ${formOfUrl}`), cause: undefined }
    const wait = toWaitFor[code]
    if (wait !== undefined) return mayPass(wait(parts))
    if (/timed out/i.test(text))
      return mayPass(
        `Postgres on ${parts.address} did not answer in time. Check the URL, and firewalls between here and there.`
      )
    if (/password/i.test(text) && said !== "" && code === "")
      return toBeCorrected(`Postgres on ${parts.address} asks for a password${said}. Correct the URL.`)
    const why = [code, said.slice(2)].filter((it) => it !== "").join(": ")
    return mayPass(`Postgres on ${parts.address} failed: ${why === "" ? "it gave no reason" : why}.`)
  }

const unescaped = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
