/** Events and operations in a person's words: complete over the contract's actions and states, with names. */
import { assert, describe, it } from "@effect/vitest"
import { Envelope, OperationAction, OperationStatus } from "@narthex/api"
import { Schema } from "effect"
import {
  actionChoices,
  type Names,
  noNames,
  plain,
  sentenceOf,
  sentenceOfEvent,
  statusChoices,
  tookWords,
  type Work
} from "../src/views/eventWords.ts"

const names: Names = {
  projects: new Map([["prj-1", "shop"]]),
  branches: new Map([
    ["br-1", { name: "main", parent_id: null }],
    ["br-2", { name: "preview", parent_id: "br-1" }]
  ]),
  people: new Map([["user-1", "Ada"]])
}

const work = (more: Partial<Work>): Work => ({
  action: "create_branch",
  status: "finished",
  project_id: "prj-1",
  branch_id: "br-2",
  error: null,
  initiator: { type: "user", id: "user-1", name: "ada@example.com" },
  ...more
})

const said = (more: Partial<Work>, of = names) => plain(sentenceOf(work(more), of))

const event = (more: object) =>
  Schema.decodeSync(Envelope)({
    id: "01KAJ0000000000000000000A0",
    type: "operation.updated.v1",
    source: "operations",
    org_id: "0198f3d2-7c1a-7b44-9c55-000000000001",
    project_id: `prj-${"0".repeat(26)}`,
    region_id: "local",
    at: "2026-11-23T04:00:00.000Z",
    data: {},
    ...more
  })

describe("words of events", () => {
  it("every action in every state has a sentence without codes, and different ones", () => {
    const sentences = OperationAction.literals.flatMap((action) =>
      OperationStatus.literals.map((status) => said({ action, status }))
    )
    for (const sentence of sentences) {
      assert.notMatch(sentence, /_|“|undefined|: [a-z]/)
      assert.match(sentence, /^Ada .*(preview|shop)/)
    }
    // `failed` and `error` read alike; the error itself says what happened.
    const different = OperationAction.literals.length * (OperationStatus.literals.length - 1)
    assert.strictEqual(new Set(sentences).size, different)
  })

  it("every action and status is a choice of its own, in words", () => {
    assert.sameMembers(Object.keys(actionChoices), [...OperationAction.literals])
    assert.sameMembers(Object.keys(statusChoices), [...OperationStatus.literals])
    for (const choices of [Object.values(actionChoices), Object.values(statusChoices)]) {
      assert.lengthOf(new Set(choices), choices.length)
      for (const choice of choices) assert.notInclude(choice, "_")
    }
  })

  it("a branch is named with its origin, and a page of several projects names the project", () => {
    assert.strictEqual(said({}), "Ada created branch preview from main")
    assert.strictEqual(said({ status: "running" }), "Ada is creating branch preview from main")
    assert.strictEqual(said({ action: "reset_branch" }), "Ada reset branch preview to main")
    assert.strictEqual(said({ action: "create_timeline" }), "Ada created project shop")
    const deleted = { action: "delete_timeline" }
    assert.strictEqual(said(deleted), "Ada deleted branch preview")
    assert.strictEqual(said({ ...deleted, branch_id: "br-1" }), "Ada deleted project shop", "its root ends with it")
    const here = sentenceOf(work({ action: "start_compute" }), names, { withProject: true })
    assert.strictEqual(plain(here), "Ada started preview in shop")
    assert.deepStrictEqual(
      here.parts.filter((part) => typeof part !== "string").map((part) => part.name),
      ["Ada", "preview", "shop"]
    )
  })

  it("the actor is a person, a key, a connection or the platform", () => {
    const by = (initiator: Work["initiator"]) => said({ action: "start_compute", branch_id: "br-1", initiator })
    assert.strictEqual(by({ type: "user", id: "user-9", name: "grace@example.com" }), "grace@example.com started main")
    assert.strictEqual(by({ type: "api_key", id: "key-1", name: "ci deploy" }), "The key ci deploy started main")
    assert.strictEqual(by({ type: "proxy", id: null, name: null }), "A connection started main")
    assert.strictEqual(by({ type: "system", id: null, name: null }), "The platform started main")
    assert.strictEqual(by(null), "The platform started main")
    assert.strictEqual(by({ type: "robot", id: null, name: null }), "A person started main")
  })

  it("a name that is not known is a short id", () => {
    assert.strictEqual(
      said({ branch_id: "br-01hzx3v5k7m9p1r3t5v7x9z1b3" }, noNames),
      "ada@example.com created branch br-…x9z1b3"
    )
  })

  it("a failure says that it could not be done, and keeps the error", () => {
    const failed = sentenceOf(work({ status: "failed", error: "The machine is full." }), names)
    assert.strictEqual(plain(failed), "Ada could not create branch preview from main")
    assert.deepStrictEqual([failed.tone, failed.error], ["bad", "The machine is full."])
  })

  it("actions and states of a newer version are shown as words", () => {
    assert.strictEqual(said({ action: "vacuum_branch" }), "Ada performed “vacuum branch” for preview")
    assert.strictEqual(said({ status: "held_back" }), "Ada asked to create branch preview from main: held back")
  })

  it("an event of an operation reads like the operation, and one of a host by its type", () => {
    const data = { operation_id: "op-1", action: "suspend_compute", status: "finished", branch_id: "br-1" }
    assert.strictEqual(plain(sentenceOfEvent(event({ data }), names)), "The platform suspended main")
    const paid = event({ type: "invoice.paid.v1", source: "host" })
    assert.strictEqual(plain(sentenceOfEvent(paid, names)), "Invoice paid")
    assert.strictEqual(plain(sentenceOfEvent(paid, names, { withProject: true })), "Invoice paid in prj-…000000")
    assert.strictEqual(plain(sentenceOfEvent(event({ data: { initiator: 7 } }), names)), "Operation updated")
  })

  it("a duration has the unit that fits, on the line of its number", () => {
    assert.deepStrictEqual([350, 1240, 12_400, 125_000, 3_720_000, -5].map(tookWords), [
      "0.3\u00a0s",
      "1.2\u00a0s",
      "12\u00a0s",
      "2\u00a0min 5\u00a0s",
      "1\u00a0h 2\u00a0min",
      "0.0\u00a0s"
    ])
  })
})
