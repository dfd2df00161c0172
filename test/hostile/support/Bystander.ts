/**
 * An organization that only works: it lists, connects, wakes, creates and follows its events. No step may fail. The
 * bystander is a process of its own (`BystanderProcess`).
 */
import assert from "node:assert/strict"
import { until } from "../../harness/eventually.ts"
import { long, times } from "../../harness/long.ts"
import { type Following, followEvents } from "../../support/followEvents.ts"
import { type Caller, call, listAt, must, textAt } from "./Caller.ts"
import { addParts, type Measured, type Step } from "./Measured.ts"
import { mint, newProject } from "./organizations.ts"
import { eventuallyOpen, openSession } from "./Session.ts"

/** The long form compares durations. In the short form a wake may take longer than a client waits for it. */
const connect = (uri: string, from: string) => (long ? openSession(uri, from) : eventuallyOpen(uri, from, ["57P03"]))

/**
 * How often it lists and connects in a round: the 99th percentile of the hundred rounds of a minute would be the second slowest
 * value, so that two slow ones decide.
 */
const timesARound = times(1, 3)

export class Bystander {
  readonly #caller: Caller
  readonly #project: string
  readonly #endpoint: string
  readonly #uri: string
  readonly #events: Following

  private constructor(caller: Caller, project: string, endpoint: string, uri: string, events: Following) {
    this.#caller = caller
    this.#project = project
    this.#endpoint = endpoint
    this.#uri = uri
    this.#events = events
  }

  static async make(caller: Caller): Promise<Bystander> {
    const ids = await newProject(caller, "bystander")
    const uri = await mint(caller, ids, "read_write")
    const events = await followEvents(`${caller.api}/v1/events`, caller.token ?? "")
    return new Bystander(caller, ids.project, ids.endpoint, uri, events)
  }

  /** The part of its credential that strangers may know. */
  get address() {
    return { uri: this.#uri.replace(/\/\/[^@]*@/, "//someone:nothing@"), endpoint: this.#endpoint }
  }

  /** One round of all steps. A failure is recorded, and ends the round. */
  async round(into: Measured): Promise<void> {
    let at: Step | "between steps" = "between steps"
    const timed = async (step: Step, work: () => Promise<void>) => {
      at = step
      const began = performance.now()
      await work()
      const took = performance.now() - began
      into.took[step].push(took)
      at = "between steps"
      return took
    }
    try {
      await this.#steps(timed, into)
    } catch (error) {
      into.failures.push({ step: at, reason: error instanceof Error ? error.message : String(error) })
    }
  }

  async #steps(timed: (step: Step, work: () => Promise<void>) => Promise<number>, into: Measured): Promise<void> {
    const project = this.#project
    const path = `/v1/projects/${project}`
    for (let time = 0; time < timesARound; time++) {
      await timed("list", async () => void (await must(this.#caller, "GET", "/v1/projects")))
      await timed("connect", () => this.#select())
    }

    const seen = this.#events.frames.length
    let suspended = 0
    await timed("event", async () => {
      await must(this.#caller, "POST", `${path}/endpoints/${this.#endpoint}/suspend`)
      const scheduled = () => this.#events.frames.slice(seen).some(({ data }) => data.action === "suspend_compute")
      await until("the event of the suspend", scheduled)
      suspended = this.#events.frames.length
    })
    assert.ok(suspended > seen)
    await this.#idles(`${path}/endpoints/${this.#endpoint}`)
    const wake = await timed("wake", () => this.#select())
    const start = { project, action: "start_compute", of: `endpoint_id=${this.#endpoint}` } as const
    await addParts(into, this.#caller, start, wake)

    let branch = ""
    const create = await timed("create", async () => {
      const created = await must(this.#caller, "POST", `${path}/branches`, {})
      branch = textAt(created, "branch", "id")
      await this.#ends(listAt(created, "operations"))
    })
    await addParts(into, this.#caller, { project, action: "create_branch", of: `branch_id=${branch}` }, create)
    await must(this.#caller, "DELETE", `${path}/branches/${branch}`)
  }

  /** Waits until the endpoint is suspended. Strangers may wake it three times (docs/design/proxy.md P36). */
  async #idles(path: string): Promise<void> {
    let asked = 0
    const isIdle = async () => {
      const { body } = await call(this.#caller, "GET", path)
      const state = textAt(body, "endpoint", "current_state")
      // Not with every look: each suspend counts against the limit of the caller.
      if (state === "active" && performance.now() - asked > 1_000) {
        asked = performance.now()
        await call(this.#caller, "POST", `${path}/suspend`)
      }
      return state === "idle"
    }
    await until("the bystander's endpoint to be idle", isIdle, { every: 100 })
  }

  /** Waits for operations as the command line does: one call each, and none that only looks again. */
  async #ends(operations: ReadonlyArray<Record<string, unknown>>): Promise<void> {
    for (const operation of operations) {
      const path = `/v1/projects/${this.#project}/operations/${textAt(operation, "id")}?wait=60s`
      assert.equal(textAt(await must(this.#caller, "GET", path), "operation", "status"), "finished")
    }
  }

  async #select(): Promise<void> {
    const session = await connect(this.#uri, this.#caller.from)
    try {
      assert.deepEqual(await session.query("select 1 as answer"), [{ answer: 1 }])
    } finally {
      session.close()
    }
  }
}
