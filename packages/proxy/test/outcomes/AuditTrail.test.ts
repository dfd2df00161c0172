import { assert, describe, it } from "@effect/vitest"
import { EndpointId, ProjectId } from "@narthex/core"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { AuditTrail } from "../../src/outcomes/AuditTrail.ts"

const client = {
  endpoint_id: EndpointId.make("ep-a"),
  project_id: ProjectId.make("prj-a"),
  client_address: "198.51.100.7"
}

describe("AuditTrail", () => {
  it.effect("a refused address is logged once a minute, and another address immediately", () =>
    Effect.gen(function* () {
      const said: Array<unknown> = []
      const trail = new AuditTrail()
      const refused = (address: string) =>
        Effect.provide(
          trail.refused({ ...client, client_address: address }),
          Logger.layer([Logger.make(({ message }) => void said.push(message))])
        )
      yield* refused("198.51.100.7")
      yield* refused("198.51.100.7")
      assert.strictEqual(said.length, 1)
      yield* refused("198.51.100.8")
      assert.strictEqual(said.length, 2)
      yield* TestClock.adjust("1 minute")
      yield* refused("198.51.100.7")
      assert.strictEqual(said.length, 3)
    })
  )
})
