/** A worker as its parent sees it, with a process that the test plays. */
import type { ChildProcess } from "node:child_process"
import { EventEmitter } from "node:events"
import { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import type { Claims } from "../../src/connection/Claims.ts"
import type { Address } from "../../src/networks/Address.ts"
import type { FromParent, FromWorker } from "../../src/workers/messages.ts"
import { type Arrival, Worker } from "../../src/workers/Worker.ts"

class Played extends EventEmitter {
  connected = true
  readonly pid = 1
  readonly sent: Array<FromParent> = []
  send(message: FromParent) {
    this.sent.push(message)
  }
  kill(signal: string) {
    this.emit("close", null, signal)
  }
  says(message: FromWorker) {
    this.emit("message", message)
  }
}

const made = () => {
  const child = new Played()
  const returned: Array<Arrival> = []
  let [free, closed] = [0, 0]
  let late: (() => void) | undefined
  const events = {
    free: () => void free++,
    returned: (arrival: Arrival) => void returned.push(arrival),
    cancelTarget: () => {},
    ended: () => {},
    limit: (given: () => void) => {
      late = given
      return () => {
        late = undefined
      }
    }
  }
  // What `Worker` uses of a process.
  const worker = new Worker(child as unknown as ChildProcess, { config: { domain: "" }, setup: null }, events)
  const claims: Claims = {
    handshake: () => () => {},
    enter: () => () => {},
    mayWake: () => () => {},
    relayed: () => {},
    authenticated: () => {},
    close: () => void closed++
  }
  const from: Address = { text: "192.0.2.1", family: 4, bytes: Uint8Array.of(192, 0, 2, 1) }
  const arrival = { connection: 1, socket: new Socket(), from, claims, counted: true, waited: () => {} }
  return { arrival, child, closed: () => closed, free: () => free, late: () => late, returned, worker }
}

describe("Worker", () => {
  it("a socket stays open here until the worker has it", () => {
    const { arrival, child, free, worker } = made()
    child.says({ _tag: "Ready" })
    assert.isTrue(worker.isFree)
    worker.hand(arrival)
    assert.isFalse(worker.isFree)
    assert.isFalse(arrival.socket.destroyed)
    child.says({ _tag: "Taken", connection: 1 })
    assert.isTrue(arrival.socket.destroyed)
    assert.isTrue(worker.isFree)
    assert.deepStrictEqual([worker.connections, free()], [1, 2])
  })

  it("a socket that a worker has not taken before its end is returned, with its claims", () => {
    const { arrival, child, closed, returned, worker } = made()
    child.says({ _tag: "Ready" })
    worker.hand(arrival)
    child.emit("close", null, "SIGKILL")
    assert.deepStrictEqual(returned, [arrival])
    assert.isFalse(arrival.socket.destroyed)
    assert.strictEqual(closed(), 0)
    assert.isFalse(worker.isFree)
  })

  it("a worker that does not take a socket in time is killed, and one that does has no limit", () => {
    const { arrival, child, late, returned, worker } = made()
    child.says({ _tag: "Ready" })
    worker.hand(arrival)
    child.says({ _tag: "Taken", connection: 1 })
    assert.isUndefined(late())
    worker.hand(arrival)
    late()?.()
    assert.deepStrictEqual(returned, [arrival])
    assert.isUndefined(late())
  })

  it("what the connections of a worker hold is given back at its end", () => {
    const { arrival, child, closed, returned, worker } = made()
    child.says({ _tag: "Ready" })
    worker.hand(arrival)
    child.says({ _tag: "Taken", connection: 1 })
    child.says({ _tag: "Relayed", connection: 1 })
    assert.strictEqual(worker.relayed, 1)
    child.emit("close", 1, null)
    assert.deepStrictEqual([returned.length, closed(), worker.connections, worker.relayed], [0, 1, 0, 0])
  })
})
