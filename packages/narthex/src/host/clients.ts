/** Clients of the API in this process, outside and inside of a host's transaction (docs/design/library.md N21, N45). */
import {
  Api,
  type Client,
  type ClientOptions,
  createClient,
  type NarthexError,
  place,
  problemOfClient,
  type SessionJson,
  StreamsEvents,
  siteOf
} from "@narthex/api"
import { Context } from "effect"
import { hostFailure } from "../failures/failures.ts"
import { anything, objectOf } from "../failures/forms.ts"
import { requireForm } from "./inputs.ts"

type OwnOptions = Pick<ClientOptions, "headers" | "onRefresh" | "retries">

/** The client of the API says what their values are. Its other options are this process's. */
const ownOptions = objectOf<OwnOptions>({ headers: anything, onRefresh: anything, retries: anything })

/** Makes a client that acts for a session or an API key; without either, for no one. */
export type MakeClient = (credential?: string | Pick<SessionJson, "access_token">, options?: OwnOptions) => Client

type Fetch = (request: Request) => Promise<Response>

/** Any origin: the client's requests never leave the process. */
const origin = "http://narthex.invalid"

/** `defaults`: what `options` may replace. */
export const makeClients = (
  fetch: Fetch,
  basePath: string,
  defaults: Pick<ClientOptions, "retries"> = {}
): MakeClient => {
  const client: MakeClient = (credential, options = {}) => {
    try {
      requireForm("options", options, ownOptions)
      const retries = options.retries === undefined ? defaults.retries : options.retries
      const given = {
        ...options,
        ...(retries === undefined ? {} : { retries }),
        baseUrl: `${origin}${basePath}`,
        fetch,
        ...(credential === undefined ? {} : { credential })
      }
      // Before `createClient`, whose name a host has not called.
      const problem = problemOfClient(given)
      if (problem !== undefined) throw problem
      return createClient(given)
    } catch (error) {
      throw place(error, "client", siteOf(client))
    }
  }
  return client
}

const reads = ["GET", "HEAD"]

const refused = (detail: string) => hostFailure("transaction_refused", detail)

/** The calls of the contract whose answers are streams, by their paths below the base path. */
const streams = Object.values(Api.groups)
  .flatMap((group) => Object.values(group.endpoints))
  .filter(({ annotations }) => Context.get(annotations, StreamsEvents))
  .map(({ path }) => new RegExp(`${path.replaceAll(/:\w+/g, "[^/]+")}$`))

/** A stream, or a wait, holds the transaction open until it is over, and sees no commit before. */
const isEndless = ({ url }: Request) => {
  const { pathname, searchParams } = new URL(url)
  return searchParams.has("wait") || streams.some((path) => path.test(pathname))
}

/**
 * Requests inside a transaction that ends with the host's callback.
 *
 * Pitfall: going on after a change that was refused. A part of the change may be made already, which a transaction of its
 * own would have undone.
 */
export const requestsDuring = (fetch: Fetch) => {
  const changing = new Set<Request>()
  let ended = false
  let broken: NarthexError | undefined
  const late = () => refused("The call was not over when its transaction's work ended. Await it.")

  const send: Fetch = async (request) => {
    if (ended) throw late()
    if (isEndless(request)) throw refused("Event streams and waits outlast a transaction. Follow them outside of it.")
    const changes = !reads.includes(request.method)
    if (changes) changing.add(request)
    const response = await fetch(request)
    changing.delete(request)
    if (ended) throw late()
    if (changes && !response.ok)
      broken ??= refused(`A change of the client was refused (${response.status}), which undoes the work around it.`)
    return response
  }
  return {
    fetch: send,
    /** The reason to undo the work: a change that was refused, or that is not over. */
    end: (): NarthexError | undefined => {
      ended = true
      return changing.size === 0 ? broken : late()
    }
  }
}
