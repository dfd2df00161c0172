/** The forms of what `fetch`, `node` and `client` are called with (docs/design/library.md N38). */
import type { ClientOptions } from "@narthex/api"
import { Predicate } from "effect"
import {
  aFunction,
  bound,
  count,
  everyOf,
  type Form,
  headerText,
  type Members,
  objectOf,
  optional,
  orElse,
  problemOf,
  record,
  recordOf,
  withMethods
} from "../failures/Form.ts"

const isPair = (it: unknown) => Array.isArray(it) && it.length === 2 && it.every(Predicate.isString)

/** By its members, because a framework's request may be of a class of its own. The API reads all its headers. */
export const aRequest: Form = {
  name: "a Request of the Fetch standard, such as `c.req.raw` of Hono",
  has: (it) =>
    Predicate.hasProperty(it, "url") &&
    Predicate.isString(it.url) &&
    Predicate.hasProperty(it, "method") &&
    Predicate.isString(it.method) &&
    Predicate.hasProperty(it, "headers") &&
    Predicate.hasProperty(it.headers, "get") &&
    Predicate.isIterable(it.headers) &&
    (it.headers instanceof Headers || everyOf([...it.headers], isPair))
}

const incoming = withMethods(
  "a request of node:http or node:http2, such as `request.raw` of Fastify",
  ...["on", "pause", "resume"]
)
/** The rest of what the handler reads of it. */
export const aNodeRequest: Form = {
  ...incoming,
  has: (it) => incoming.has(it) && Predicate.hasProperty(it, "rawHeaders") && everyOf(it.rawHeaders, Predicate.isString)
}
export const aNodeResponse: Form = withMethods(
  "a response of node:http or node:http2, such as `reply.raw` of Fastify",
  ...["setHeader", "flushHeaders", "write", "end", "destroy", "on"]
)

export const aCredential: Form = {
  name: "an API key, a session token, or a session",
  has: (it) =>
    it === undefined ||
    Predicate.isString(it) ||
    (Predicate.hasProperty(it, "access_token") && Predicate.isString(it.access_token))
}

const off: Form = { name: "false", has: (it) => it === false }
const retries: Members<Exclude<ClientOptions["retries"], false | undefined>> = {
  times: optional(count),
  delay: optional(bound),
  attempt: optional(bound),
  within: optional(bound)
}

/** RFC 9110 §5.6.2: the characters of a name. */
const misnamed = (path: string, headers: unknown) =>
  Object.keys(Object(headers)).every((name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name))
    ? undefined
    : `${path}: expected names of headers: letters, digits and hyphens.`
const headers: Form = {
  ...record,
  inside: (path, it) => misnamed(path, it) ?? problemOf(path, it, recordOf(headerText))
}

export const clientMembers: Members<Pick<ClientOptions, "headers" | "onRefresh" | "retries">> = {
  headers: optional(headers),
  onRefresh: optional(aFunction),
  retries: optional(orElse(off, objectOf(retries)))
}
