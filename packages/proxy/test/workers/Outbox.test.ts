import { assert, describe, it } from "@effect/vitest"
import { Outbox } from "../../src/workers/Outbox.ts"

const nextTurn = () => new Promise<void>((resume) => setImmediate(resume))

describe("Outbox", () => {
  it("messages of one turn are sent as one, in their order, and later ones apart", async () => {
    const sent: Array<ReadonlyArray<string>> = []
    const outbox = new Outbox<string>((messages) => sent.push(messages))
    outbox.add("relayed")
    outbox.add("authenticated")
    assert.deepStrictEqual(sent, [])
    await nextTurn()
    outbox.add("closed")
    await nextTurn()
    assert.deepStrictEqual(sent, [["relayed", "authenticated"], ["closed"]])
    await nextTurn()
    assert.lengthOf(sent, 2)
  })
})
