/** An organization that only works: it lists, connects, wakes, creates and follows its events. None of that may fail. */
import { assert } from "@effect/vitest"
import { until } from "../../harness/eventually.ts"
import { long } from "../../harness/long.ts"
import { type Following, followEvents } from "../../support/followEvents.ts"
import { type Caller, call, must, textAt } from "./Caller.ts"
import { mint, newProject } from "./organizations.ts"
import { eventuallyOpen, openSession } from "./Session.ts"

export const steps = ["list", "connect", "wake", "create", "event"] as const
export type Step = (typeof steps)[number]

/** Milliseconds of each step, in the order of the rounds. */
export type Durations = Readonly<Record<Step, Array<number>>>

export const noDurations = (): Durations => ({ list: [], connect: [], wake: [], create: [], event: [] })

/** The long form compares durations. In the short form a wake may take longer than a client waits for it. */
const connect = (uri: string, from: string) => (long ? openSession(uri, from) : eventuallyOpen(uri, from, ["57P03"]))

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

  /** What strangers may know of it. */
  get address() {
    return { uri: this.#uri.replace(/\/\/[^@]*@/, "//someone:nothing@"), endpoint: this.#endpoint }
  }

  close() {
    this.#events.close()
  }

  /** One round of all steps. A step that fails is a failure of the test. */
  async round(into: Durations): Promise<void> {
    const timed = async (step: Step, work: () => Promise<void>) => {
      const began = performance.now()
      await work()
      into[step].push(performance.now() - began)
    }
    const path = `/v1/projects/${this.#project}`
    await timed("list", async () => void (await must(this.#caller, "GET", "/v1/projects")))
    await timed("connect", () => this.#select())

    const seen = this.#events.frames.length
    let suspended = 0
    await timed("event", async () => {
      await must(this.#caller, "POST", `${path}/endpoints/${this.#endpoint}/suspend`)
      const scheduled = () => this.#events.frames.slice(seen).some(({ data }) => data.action === "suspend_compute")
      await until("the event of the suspend", scheduled)
      suspended = this.#events.frames.length
    })
    assert.isAbove(suspended, seen)
    await until(
      "the bystander's endpoint to be suspended",
      async () => {
        const { body } = await call(this.#caller, "GET", `${path}/endpoints/${this.#endpoint}`)
        return textAt(body, "endpoint", "current_state") === "idle"
      },
      { every: 20 }
    )
    await timed("wake", () => this.#select())

    let branch = ""
    await timed("create", async () => {
      const created = await must(this.#caller, "POST", `${path}/branches`, {})
      branch = textAt(created, "branch", "id")
      await until(
        "the bystander's branch",
        async () => {
          const { body } = await call(this.#caller, "GET", `${path}/branches/${branch}`)
          return textAt(body, "branch", "current_state") === "ready"
        },
        { every: 20 }
      )
    })
    await must(this.#caller, "DELETE", `${path}/branches/${branch}`)
  }

  async #select(): Promise<void> {
    const session = await connect(this.#uri, this.#caller.from)
    try {
      assert.deepStrictEqual(await session.query("select 1 as answer"), [{ answer: 1 }])
    } finally {
      session.close()
    }
  }
}
