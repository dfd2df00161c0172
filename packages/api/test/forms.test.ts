import { assert, describe, it } from "@effect/vitest"
import {
  confirmsLockout,
  locationOf,
  pageRequest,
  parseApiKeyId,
  parseOrgId,
  parseProjectId,
  problemOfSchemaError
} from "@narthex/api"
import { Entropy, type EntropySource, encodeCursor, makeApiKeyId, makeOrgId, makeProjectId } from "@narthex/core"
import { Effect, Option, Result, Schema } from "effect"
import { HttpApiError } from "effect/http-api"

const make = <A, E>(id: Effect.Effect<A, E>) => Effect.provideService(id, Entropy, zeros)
const zeros: EntropySource = { bytes: (length) => Effect.succeed(new Uint8Array(length)) }

describe("forms of ids", () => {
  it.effect("every id that the core makes is accepted by the clients' parsers", () =>
    Effect.gen(function* () {
      const project = yield* make(makeProjectId)
      const org = yield* make(makeOrgId)
      const key = yield* make(makeApiKeyId)
      assert.deepStrictEqual(parseProjectId(project), Option.some(project))
      assert.deepStrictEqual(parseOrgId(org), Option.some(org))
      assert.deepStrictEqual(parseApiKeyId(key), Option.some(key))
    })
  )
  it("text that a URL library folds is not an id", () => {
    for (const text of ["", ".", "..", "prj-../x", "prj-01K3Z6V9E8Q0X5M4C2B7N1R0SD", "br-01k3z6v9e8q0x5m4c2b7n1r0sd"])
      assert.isTrue(Option.isNone(parseProjectId(text)), text)
  })
})

describe("values that the server reads from the contract", () => {
  it("a page starts after the id in its cursor", () => {
    assert.deepStrictEqual(pageRequest({}), Result.succeed({ limit: 200, after: null }))
    assert.deepStrictEqual(
      pageRequest({ limit: 5, cursor: encodeCursor("prj-1") }),
      Result.succeed({ limit: 5, after: "prj-1" })
    )
    assert.isTrue(Result.isFailure(pageRequest({ cursor: "prj-1" })))
  })
  it("a Location is filled from the path and the answer", () => {
    const template = "/v1/projects/:project_id/branches/{branch.id}"
    assert.strictEqual(
      locationOf(template, { project_id: "prj-1" }, { branch: { id: "br-1" } }),
      "/v1/projects/prj-1/branches/br-1"
    )
  })
  it("only the word true confirms a lockout", () => {
    assert.isTrue(confirmsLockout({ confirm_self_lockout: "true" }))
    assert.isFalse(confirmsLockout({ confirm_self_lockout: "1" }))
    assert.isFalse(confirmsLockout({}))
  })
  it.effect("an answer that does not encode is not the client's error", () =>
    Effect.gen(function* () {
      const wrap = (kind: HttpApiError.HttpApiSchemaError["kind"]) =>
        Effect.flip(HttpApiError.HttpApiSchemaError.wrap(kind, Schema.decodeUnknownEffect(Schema.String)(1)))
      assert.isUndefined(problemOfSchemaError(yield* wrap("Body")))
      assert.strictEqual(problemOfSchemaError(yield* wrap("Params"))?.code, "not_found")
      assert.strictEqual(problemOfSchemaError(yield* wrap("Headers"))?.code, "invalid_request")
    })
  )
})
