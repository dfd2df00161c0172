/** The forms of what `fetch`, `node` and a simulation's `follow` are called with (docs/design/library.md N38). */
import { Predicate } from "effect"
import { everyOf, expecting, hasFunctions } from "../failures/forms.ts"

const isPair = (it: unknown) => Array.isArray(it) && it.length === 2 && it.every(Predicate.isString)

/** By its members, because a framework's request may be of a class of its own. The API reads all its headers. */
export const aRequest = expecting(
  "a Request of the Fetch standard, such as `c.req.raw` of Hono",
  (it) =>
    Predicate.hasProperty(it, "url") &&
    Predicate.isString(it.url) &&
    Predicate.hasProperty(it, "method") &&
    Predicate.isString(it.method) &&
    Predicate.hasProperty(it, "headers") &&
    Predicate.hasProperty(it.headers, "get") &&
    Predicate.isIterable(it.headers) &&
    (it.headers instanceof Headers || everyOf([...it.headers], isPair))
)

/** The form of a request, by the members that the handler reads. */
export const aNodeRequest = expecting(
  "a request of node:http or node:http2, such as `request.raw` of Fastify",
  (it) => hasFunctions(it, "on", "pause", "resume") && "rawHeaders" in it && everyOf(it.rawHeaders, Predicate.isString)
)
export const aNodeResponse = expecting("a response of node:http or node:http2, such as `reply.raw` of Fastify", (it) =>
  hasFunctions(it, "setHeader", "flushHeaders", "write", "end", "destroy", "on")
)

export const aCredential = expecting(
  "an API key, a session token, or a session",
  (it) => Predicate.isString(it) || (Predicate.hasProperty(it, "access_token") && Predicate.isString(it.access_token))
)
