import { assert, describe, it } from "@effect/vitest"
import { parsePeer } from "../../src/networks/Address.ts"
import { ArrivalQueue } from "../../src/workers/ArrivalQueue.ts"

interface Named {
  readonly name: string
  readonly from: NonNullable<ReturnType<typeof parsePeer>>
}

const arrival = (name: string, address: string): Named => {
  const from = parsePeer(address)
  if (from === undefined) throw new Error(`${address} is no address.`)
  return { name, from }
}

const takeAll = (queue: ArrivalQueue<Named>) => {
  const names: Array<string> = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.name)
  return names
}

describe("ArrivalQueue", () => {
  it("networks take turns, and the connections of one are in the order of their arrival", () => {
    const queue = new ArrivalQueue<Named>()
    queue.add(arrival("flood 1", "192.0.2.1"))
    queue.add(arrival("flood 2", "192.0.2.2"))
    queue.add(arrival("flood 3", "192.0.2.1"))
    queue.add(arrival("owner", "198.51.100.1"))
    queue.add(arrival("other", "2001:db8::1"))
    queue.add(arrival("neighbour", "2001:db8::2"))
    assert.deepStrictEqual(takeAll(queue), ["flood 1", "owner", "other", "flood 2", "neighbour", "flood 3"])
    assert.deepStrictEqual([...queue], [])
  })

  it("a network that has had its turn is behind those that wait", () => {
    const queue = new ArrivalQueue<Named>()
    for (let n = 0; n < 3; n++) queue.add(arrival(`flood ${n}`, "192.0.2.1"))
    assert.strictEqual(queue.take()?.name, "flood 0")
    queue.add(arrival("owner", "198.51.100.1"))
    assert.strictEqual(queue.take()?.name, "flood 1")
    assert.deepStrictEqual(takeAll(queue), ["owner", "flood 2"])
  })

  it("a connection that has left is not taken", () => {
    const queue = new ArrivalQueue<Named>()
    const [gone, stays] = [arrival("gone", "192.0.2.1"), arrival("stays", "192.0.2.2")]
    queue.add(gone)
    queue.delete(gone)
    queue.delete(gone)
    queue.add(stays)
    assert.deepStrictEqual(
      [...queue].map(({ name }) => name),
      ["stays"]
    )
    assert.deepStrictEqual(takeAll(queue), ["stays"])
  })
})
