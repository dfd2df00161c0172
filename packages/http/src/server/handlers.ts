/**
 * The API as a function of the Fetch standard and as a handler of Node: one API for the two forms in which servers hand
 * over requests (docs/design/library.md N10–N20).
 *
 * Pitfall: taking the client's address from a header. A client that does not come through the host's own proxy can
 * write any address into it, so a header counts only if the host's function reads it.
 */
import { type HostSession, isOwnSite } from "../sessions/hostSession.ts"
import { belowBasePath, targetOfUrl } from "./basePath.ts"
import type { FetchServer, Incoming } from "./FetchServer.ts"
import { type NodeHandler, requestFromNode, sendToNode } from "./nodeHandler.ts"
import { isApiPath } from "./routeTable.ts"

export interface HandlerOptions {
  /** As `readBasePath` reads it. */
  readonly basePath: string
  /** Default: the socket's address for `node`, none for `fetch`. */
  readonly clientAddress?: ((request: Request, socketAddress: string | null) => string | null) | undefined
  /** The host's own session of a request without `Authorization`. Default: none. */
  readonly hostSession?: ((request: Request) => Promise<HostSession | null>) | undefined
}

const socketsOwn = (_: Request, socketAddress: string | null) => socketAddress

/** The result of the host's function. Another value would be taken for an address until a rule compares it. */
const checked = (address: string | null): string | null => {
  // A program without types may return anything; `undefined` counts as not known.
  const given: unknown = address ?? null
  if (given === null || typeof given === "string") return given
  throw new TypeError(
    "clientAddress: expected the text of an address or null. A function that is async returns neither."
  )
}

/** Outside of the base path there is nothing: no endpoint has this path. */
const nowhere = "/"

export const handlers = (
  answer: FetchServer["Service"]["answer"],
  { basePath, clientAddress = socketsOwn, hostSession }: HandlerOptions
) => {
  const ofHost = (request: Request): Pick<Incoming, "hostSession"> =>
    hostSession === undefined || !isOwnSite(request) ? {} : { hostSession: () => hostSession(request) }

  const fetch = (request: Request): Promise<Response> =>
    answer(request, {
      target: belowBasePath(basePath, targetOfUrl(request.url)) ?? nowhere,
      prefix: basePath,
      ...ofHost(request),
      // Read inside the call, so that a function that throws is an answer of 500, and not an exception here.
      get address() {
        return checked(clientAddress(request, null))
      }
    })

  const node: NodeHandler = (incoming, outgoing, next) => {
    // Express takes the mount point off `url`; with a base path, it is the base path that counts.
    const { baseUrl = "", originalUrl, url = "/" } = incoming
    const [sent, prefix] = basePath === "" ? [url, baseUrl] : [originalUrl ?? url, basePath]
    const target = belowBasePath(basePath, targetOfUrl(sent)) ?? nowhere
    if (next !== undefined && !isApiPath(target.split("?")[0] ?? "", prefix === "")) return next()

    const gone = new AbortController()
    outgoing.on("error", () => {})
    // Pitfall: asking `writableFinished`. Over HTTP/2 it is true for a stream that the client has reset.
    outgoing.on("close", () => {
      if (!outgoing.writableEnded) gone.abort(new Error("The client closed the connection."))
    })
    const respond = async () => {
      const request = requestFromNode(incoming, gone.signal)
      const answered = await answer(request, {
        target,
        prefix,
        ...ofHost(request),
        get address() {
          return checked(clientAddress(request, incoming.socket?.remoteAddress ?? null))
        }
      })
      await sendToNode(answered, incoming, outgoing, gone.signal)
    }
    respond().catch(() => outgoing.destroy())
  }

  return { fetch, node }
}
