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
      const logger = Logger.layer([Logger.make(({ message }) => void said.push(message))])
      const trail = new AuditTrail(yield* Effect.provide(Effect.context(), logger))
      const refused = (client_address: string) => trail.refused({ ...client, client_address })
      refused("198.51.100.7")
      refused("198.51.100.7")
      assert.strictEqual(said.length, 1)
      refused("198.51.100.8")
      assert.strictEqual(said.length, 2)
      yield* TestClock.adjust("1 minute")
      refused("198.51.100.7")
      assert.strictEqual(said.length, 3)
    })
  )
})
