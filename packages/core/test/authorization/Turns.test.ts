/** The turns of requesters: bounds at every step, order, and places that come back. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { RequesterFacts } from "../../src/authorization/Requester.ts"
import { Turns } from "../../src/authorization/Turns.ts"

const rules = { places: 5, per_party: 3, per_credential: 2, waiting: 3 }

/** Two credentials of each party. */
const credentials = ["a1", "a2", "b1", "b2", "c1", "c2"] as const
type Credential = (typeof credentials)[number]
const requester = (credential: string): RequesterFacts => ({ party: credential.charAt(0), credential })

/** A step of a requester: it asks for a place, gives one back, or leaves the wait that it began last. */
const Step = Schema.Tuple([Schema.Literals(["ask", "give", "leave"]), Schema.Literals(credentials)])

class Model {
  readonly held = new Map<Credential, number>(credentials.map((it) => [it, 0]))
  readonly waits = new Map<Credential, Array<() => void>>(credentials.map((it) => [it, []]))

  heldBy(which: (credential: Credential) => boolean): number {
    return credentials.filter(which).reduce((sum, it) => sum + (this.held.get(it) ?? 0), 0)
  }

  waitsOf(credential: Credential): Array<() => void> {
    return this.waits.get(credential) ?? []
  }

  change(credential: Credential, by: 1 | -1): void {
    this.held.set(credential, (this.held.get(credential) ?? 0) + by)
  }

  check(): void {
    const taken = this.heldBy(() => true)
    assert.isAtMost(taken, rules.places)
    for (const it of credentials) {
      const ofParty = this.heldBy((other) => other.charAt(0) === it.charAt(0))
      const own = this.heldBy((other) => other === it)
      assert.isAtMost(ofParty, rules.per_party)
      assert.isAtMost(own, rules.per_credential)
      const mayHave = taken < rules.places && ofParty < rules.per_party && own < rules.per_credential
      assert.isFalse(mayHave && this.waitsOf(it).length > 0, `${it} waits for a place that it may have`)
    }
  }
}

describe("Turns", () => {
  it.effect.prop("no place is held twice, or lost, or free while one may be had", [Schema.Array(Step)], ([steps]) =>
    Effect.sync(() => {
      const turns = new Turns(rules)
      const model = new Model()
      for (const [step, credential] of steps) {
        if (step === "leave") model.waitsOf(credential).pop()?.()
        else if (step === "give" && (model.held.get(credential) ?? 0) > 0) {
          model.change(credential, -1)
          turns.give(requester(credential))
        } else if (step === "ask" && turns.tryTake(requester(credential))) model.change(credential, 1)
        else if (step === "ask") {
          const leave = turns.wait(requester(credential), () => {
            model.change(credential, 1)
            model.waitsOf(credential).shift()
          })
          if (leave === undefined) assert.lengthOf(model.waitsOf(credential), rules.waiting)
          else model.waitsOf(credential).push(leave)
        }
        model.check()
      }
    })
  )

  it("a credential leaves its party a place, and a party leaves places to others", () => {
    const turns = new Turns(rules)
    const taken = (credential: string) => turns.tryTake(requester(credential))
    assert.deepStrictEqual(["a1", "a1", "a1", "a2", "a2", "b1", "b1", "b1"].map(taken), [
      ...[true, true, false],
      ...[true, false],
      ...[true, true, false]
    ])
  })

  it("a wait that was left gets no place, and what waits for one credential is bounded", () => {
    const turns = new Turns({ places: 1, per_party: 1, per_credential: 1, waiting: 2 })
    const order: Array<string> = []
    const wait = (name: string) => turns.wait(requester("a1"), () => order.push(name))
    assert.isTrue(turns.tryTake(requester("b1")))
    const leave = wait("first")
    wait("second")
    assert.isUndefined(wait("third"))
    leave?.()
    turns.give(requester("b1"))
    assert.deepStrictEqual(order, ["second"])
  })

  it("what begins to wait when the last place has just been given back has it at once", () => {
    const turns = new Turns({ places: 1, per_party: 1, per_credential: 1, waiting: 2 })
    const order: Array<string> = []
    assert.isTrue(turns.tryTake(requester("b1")))
    assert.isFalse(turns.tryTake(requester("a1")))
    turns.give(requester("b1"))
    turns.wait(requester("a1"), () => order.push("a1"))
    assert.deepStrictEqual(order, ["a1"])
    assert.isFalse(turns.tryTake(requester("b1")), "the place is taken")
  })

  it("each party has a turn before any has a second one, and so has each credential of a party", () => {
    const turns = new Turns({ places: 1, per_party: 1, per_credential: 1, waiting: 10 })
    const order: Array<string> = []
    assert.isTrue(turns.tryTake(requester("first")))
    for (const credential of ["a1", "a1", "a1", "a2", "b1", "c1", "b1"])
      turns.wait(requester(credential), () => order.push(credential))
    turns.give(requester("first"))
    while (order.length < 7) turns.give(requester(order.at(-1) ?? ""))
    assert.deepStrictEqual(order, ["a1", "b1", "c1", "a2", "b1", "a1", "a1"])
  })
})
