import { assert, describe, it } from "@effect/vitest"
import { Held } from "../../src/connection/Held.ts"

describe("Held", () => {
  it("what a connection holds is released once, the last first", () => {
    const held = new Held()
    const released: Array<string> = []
    held.hold(() => released.push("socket"))
    const early = held.hold(() => released.push("half-open"))
    held.hold(() => released.push("endpoint"))
    early()
    early()
    held.release()
    held.release()
    assert.deepStrictEqual(released, ["half-open", "endpoint", "socket"])
  })

  it("what is taken after the end of the connection is released at once", () => {
    const held = new Held()
    held.release()
    let released = 0
    held.hold(() => released++)
    assert.strictEqual(released, 1)
  })
})
