import { assert, describe, it } from "@effect/vitest"
import { Api } from "@narthex/api"
import { makeLoadingClient } from "@narthex/api/loading"
import { Cause, Effect, Exit } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { groupLoaders, loadContract } from "../../src/client/makeLoadingClient.ts"

const answering = (asked: Array<string>) =>
  HttpClient.make((request, url) => {
    asked.push(`${request.method} ${url.pathname} ${request.headers["authorization"] ?? "none"}`)
    const body = { regions: [], pagination: { next_cursor: null } }
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body)))
  })

const client = (asked: Array<string>) =>
  Effect.provideService(
    makeLoadingClient({ baseUrl: "http://api.test", retries: false }),
    HttpClient.HttpClient,
    answering(asked)
  )

/** What the client knows of an endpoint: where it is, its errors, and what reads its answers. */
const described = (contract: HttpApi.Constraint, group: string) => {
  const found: Array<unknown> = []
  HttpApi.reflect(contract as HttpApi.Top, {
    predicate: (of) => of.group.identifier === group,
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors, mergedAnnotations, middleware, successes }) => {
      found.push({
        name: endpoint.identifier,
        method: endpoint.method,
        path: endpoint.path,
        errors: [...errors].map(([status, schemas]) => [status, schemas.length]),
        successes: [...successes.keys()],
        middleware: [...middleware].map(({ key }) => key),
        annotations: [...mergedAnnotations.mapUnsafe.keys()].filter((key) => !/openapi/i.test(key)).toSorted()
      })
    }
  })
  return found
}

describe("a client that loads groups with their first call", () => {
  it.effect("has every group of the contract, with the same endpoints, errors and rules", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(Object.keys(groupLoaders).toSorted(), Object.keys(Api.groups).toSorted())
      for (const [name, load] of Object.entries(groupLoaders)) {
        const contract = yield* Effect.promise(() => loadContract(load))
        assert.deepStrictEqual(described(contract, name), described(Api, name))
        assert.isNotEmpty(described(contract, name))
      }
    })
  )

  it.effect("calls an endpoint as the client of the whole contract does", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { api } = yield* client(asked)
      assert.deepStrictEqual(yield* api.regions.list(), { regions: [] })
      assert.deepStrictEqual(asked, ["GET /v1/regions none"])
    })
  )

  it.effect("a name that the contract does not have is a defect that names it", () =>
    Effect.gen(function* () {
      const { api } = yield* client([])
      const calls = api.regions as unknown as Readonly<Record<string, () => Effect.Effect<unknown>>>
      const exit = yield* Effect.exit(calls["nothing"]?.() ?? Effect.void)
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "regions.nothing")
    })
  )
})
