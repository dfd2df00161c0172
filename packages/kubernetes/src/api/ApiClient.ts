/**
 * The calls of the Kubernetes API that the driver makes. Every read is answered by the API server as of now: nothing is
 * cached here.
 *
 * `awaited` lists a selection of objects and watches it until a decision is made. A watch ends often: the server ends each
 * after some minutes, and one that was lost without notice ends by its deadline. Each end is followed by another list, so
 * a decision never depends on an event that was lost.
 */
import { Duration, Effect, Option, Schedule, Schema } from "effect"
import type { ApiAccess } from "../access/ApiAccess.ts"
import { ApiFailure } from "./ApiFailure.ts"
import { type Kept, type Namespace, pathOf, type Resource, selectorOf } from "./Resource.ts"
import { type Call, openTransport } from "./Transport.ts"

/** The field manager of every change. */
const manager = "narthex"
/** How many objects one answer of a list has. */
const pageSize = "500"
const watchSeconds = 240
/** After how long a watch is given up that its server has not ended. */
const watchDeadline = Duration.seconds(watchSeconds + 30)
const pauseAfterFailure = Duration.millis(500)

export interface Selection {
  readonly namespace: Namespace
  /** The name of the only object. */
  readonly name?: string
  /** Labels with their values; `null`: with any. */
  readonly labels?: Readonly<Record<string, string | null>>
}

const Status = Schema.fromJsonString(
  Schema.Struct({ reason: Schema.optionalKey(Schema.String), message: Schema.optionalKey(Schema.String) })
)
const decodeStatus = Schema.decodeUnknownOption(Status)

/** The failure that an answer is. */
const failureOf = ({ status, text }: { readonly status: number; readonly text: string }) => {
  const found = Option.getOrUndefined(decodeStatus(text))
  const reason = found?.reason ?? "Unknown"
  return new ApiFailure({ status, reason, detail: found?.message ?? text.slice(0, 500).trim() })
}

const unexpected = (detail: string) => new ApiFailure({ status: 200, reason: "UnexpectedAnswer", detail })

const parsed = (text: string) =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => unexpected("The answer is not JSON.") })

const Page = Schema.Struct({
  metadata: Schema.Struct({ resourceVersion: Schema.String, continue: Schema.optionalKey(Schema.String) }),
  items: Schema.Array(Schema.Unknown)
})

const WatchEvent = Schema.fromJsonString(Schema.Struct({ type: Schema.String, object: Schema.Unknown }))
const decodeEvent = Schema.decodeUnknownOption(WatchEvent)

/** Opens a client, whose connections close with the scope. */
export const openApiClient = Effect.fn("openApiClient")(function* (access: ApiAccess) {
  const { ask, lines } = yield* openTransport(access)

  /** The answer as JSON, `None` for 404. */
  const json = Effect.fnUntraced(function* (call: Call) {
    const answer = yield* ask(call)
    if (answer.status === 404) return Option.none<unknown>()
    if (answer.status >= 300) return yield* failureOf(answer)
    return Option.some(yield* parsed(answer.text))
  })

  const decoded = <A extends Kept>({ plural, schema }: Resource<A>, value: unknown) =>
    Effect.mapError(Schema.decodeUnknownEffect(schema)(value), ({ message }) => unexpected(`${plural}: ${message}`))

  /** As `decoded`; an answer that something is missing is a failure. */
  const present = <A extends Kept>(resource: Resource<A>, call: Call) =>
    Effect.flatMap(json(call), (found) =>
      Option.isSome(found)
        ? decoded(resource, found.value)
        : Effect.fail(new ApiFailure({ status: 404, reason: "NotFound", detail: call.path.replace(/\?.*/, "") }))
    )

  const get = Effect.fnUntraced(function* <A extends Kept>(resource: Resource<A>, namespace: Namespace, name: string) {
    const found = yield* json({ method: "GET", path: pathOf(resource, namespace, name) })
    return Option.isNone(found) ? Option.none<A>() : Option.some(yield* decoded(resource, found.value))
  })

  const queryOf = ({ labels, name }: Selection) => ({
    ...(labels === undefined ? {} : { labelSelector: selectorOf(labels) }),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` })
  })

  const list = Effect.fnUntraced(function* <A extends Kept>(resource: Resource<A>, selection: Selection) {
    const items: Array<A> = []
    const query = new URLSearchParams({ ...queryOf(selection), limit: pageSize })
    while (true) {
      const path = `${pathOf(resource, selection.namespace)}?${query}`
      const found = yield* json({ method: "GET", path })
      if (Option.isNone(found)) return yield* failureOf({ status: 404, text: `There are no ${resource.plural}.` })
      const page = yield* Effect.mapError(Schema.decodeUnknownEffect(Page)(found.value), ({ message }) =>
        unexpected(message)
      )
      for (const item of page.items) items.push(yield* decoded(resource, item))
      const next = page.metadata.continue ?? ""
      if (next === "") return { items, version: page.metadata.resourceVersion }
      query.set("continue", next)
    }
  })

  /** A list that took so long that its pages have expired begins again. */
  const listed = <A extends Kept>(resource: Resource<A>, selection: Selection) =>
    Effect.retry(list(resource, selection), { times: 3, while: ({ status }) => status === 410 })

  /**
   * Waits until `decide` returns something for the objects of a selection. Failures of the API server are waited out, but
   * for those that say that the caller may not ask.
   */
  const awaited = <A extends Kept, B>(
    resource: Resource<A>,
    selection: Selection,
    decide: (objects: ReadonlyArray<A>) => B | undefined
  ): Effect.Effect<B, ApiFailure> =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownOption(resource.schema)
      while (true) {
        const { items, version } = yield* listed(resource, selection)
        let decision = decide(items)
        if (decision !== undefined) return decision
        const objects = new Map(items.map((item) => [item.metadata.uid, item]))
        const query = new URLSearchParams({
          ...queryOf(selection),
          watch: "1",
          allowWatchBookmarks: "true",
          timeoutSeconds: `${watchSeconds}`,
          resourceVersion: version
        })
        const refused = yield* lines(`${pathOf(resource, selection.namespace)}?${query}`, watchDeadline, (line) => {
          const event = Option.getOrUndefined(decodeEvent(line))
          if (event === undefined || event.type === "ERROR") return true
          const object = Option.getOrUndefined(decode(event.object))
          if (object === undefined || event.type === "BOOKMARK") return false
          if (event.type === "DELETED") objects.delete(object.metadata.uid)
          else objects.set(object.metadata.uid, object)
          decision = decide([...objects.values()])
          return decision !== undefined
        })
        if (decision !== undefined) return decision
        if (refused !== undefined && refused.status !== 410) return yield* failureOf(refused)
        yield* Effect.sleep(pauseAfterFailure)
      }
    }).pipe(
      Effect.retry({
        while: ({ status }) => status === 0 || status === 429 || status >= 500,
        schedule: Schedule.spaced(pauseAfterFailure)
      })
    )

  const create = <A extends Kept>(resource: Resource<A>, namespace: Namespace, body: object) =>
    present(resource, { method: "POST", path: `${pathOf(resource, namespace)}?fieldManager=${manager}`, body })

  /** Merges a patch (RFC 7396) into an object. */
  const patch = <A extends Kept>(resource: Resource<A>, namespace: Namespace, name: string, body: object) =>
    present(resource, {
      method: "PATCH",
      path: `${pathOf(resource, namespace, name)}?fieldManager=${manager}`,
      body,
      type: "application/merge-patch+json"
    })

  /** Makes an object as the manifest says, whether it exists or not. Members that the manifest lacks are left alone. */
  const apply = <A extends Kept>(resource: Resource<A>, namespace: Namespace, name: string, body: object) =>
    present(resource, {
      method: "PATCH",
      path: `${pathOf(resource, namespace, name)}?fieldManager=${manager}&force=true`,
      body,
      type: "application/apply-patch+yaml"
    })

  /** Asks for the deletion of exactly this object, after everything that it owns. No-op if it is gone. */
  const remove = <A extends Kept>(resource: Resource<A>, { metadata }: A) =>
    Effect.asVoid(
      json({
        method: "DELETE",
        path: pathOf(resource, metadata.namespace ?? null, metadata.name),
        body: {
          kind: "DeleteOptions",
          apiVersion: "v1",
          propagationPolicy: "Foreground",
          preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
        }
      })
    )

  /** A question that is asked by making an object that is not kept, as an access review. */
  const review = <A>(path: string, body: object, schema: Schema.Codec<A, unknown>) =>
    Effect.gen(function* () {
      const answer = yield* ask({ method: "POST", path, body })
      if (answer.status >= 300) return yield* failureOf(answer)
      const value = yield* parsed(answer.text)
      return yield* Effect.mapError(Schema.decodeUnknownEffect(schema)(value), ({ message }) => unexpected(message))
    })

  /** Whether the server has the API at this path. */
  const offers = (path: string) => Effect.map(json({ method: "GET", path }), Option.isSome)

  return { apply, awaited, create, get, list: listed, offers, patch, remove, review }
})

export type ApiClient = Effect.Success<ReturnType<typeof openApiClient>>
