/** A control plane as its host holds it, and how it is made (docs/design/library.md). */
import { FetchServer, handlers, type NodeHandler, readBasePath } from "@narthex/http/web"
import { Cause, Context, Duration, Effect, Exit, Layer, ManagedRuntime } from "effect"
import { layerCore, layerWork } from "./composition/layerControlPlane.ts"
import { layerLog } from "./composition/logging.ts"
import type { ControlPlaneOptions } from "./options/ControlPlaneOptions.ts"
import { InvalidOptions } from "./options/InvalidOptions.ts"

export interface ControlPlane extends AsyncDisposable {
  /**
   * The whole HTTP API, event streams included, as a function of the Fetch standard. Aborting the request's signal ends
   * the call and the body of its answer. Never rejects.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * The same as a handler for `node:http`, Express and Fastify. With `next`, paths that are not the API's are passed
   * on.
   */
  readonly node: NodeHandler
  /**
   * Ends it in order: new requests are refused, streams are told to reconnect, calls in flight finish, operations are
   * given back, connections are closed. Every call returns the same promise.
   */
  readonly close: () => Promise<void>
}

/**
 * Makes a control plane; in memory unless the options say otherwise. Rejects with `InvalidOptions`, or with the failure
 * of the storage.
 *
 * @example
 * await using cp = await createControlPlane()
 */
export const createControlPlane = async (options: ControlPlaneOptions = {}): Promise<ControlPlane> => {
  const basePath = readBasePath(options.basePath ?? "")
  if (basePath === undefined)
    throw new InvalidOptions(`basePath: expected a path such as "/control", not ${JSON.stringify(options.basePath)}.`)
  const grace = Duration.millis(options.grace ?? 10_000)
  const runtime = ManagedRuntime.make(
    layerWork(options).pipe(
      Layer.provideMerge(FetchServer.layer(grace)),
      Layer.provideMerge(layerCore(options)),
      Layer.provideMerge(layerLog(options))
    )
  )
  const built = await runtime.runPromiseExit(
    Effect.context<Layer.Success<ReturnType<typeof layerCore>> | FetchServer>()
  )
  if (Exit.isFailure(built)) {
    await runtime.dispose()
    throw Cause.squash(built.cause)
  }
  const { answer } = Context.get(built.value, FetchServer)
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= runtime.dispose()
    return closing
  }

  return {
    ...handlers(answer, { basePath, clientAddress: options.clientAddress }),
    close,
    [Symbol.asyncDispose]: close
  }
}
