/**
 * Failures that a test asks for: answers that are errors, calls that wait, answers that are lost after the change was made,
 * rights that are missing, kinds that are not installed.
 */
import { until } from "../../../../../test/harness/eventually.ts"
import type { Call, Verb } from "./calls.ts"
import type { Answer } from "./perform.ts"
import { nameOf, type Resource } from "./resources.ts"

/** Which calls; a member that is left out matches all. */
export interface Which {
  readonly verb?: Verb
  readonly resource?: Resource
  readonly name?: string
  /** The number of calls; 1 if it is left out. */
  readonly times?: number
  /** How many matching calls come before; none if it is left out. */
  readonly after?: number
}

/** A call that waits until the test lets it go on. */
export interface Paused {
  /** Resolves when the call has come. */
  readonly reached: Promise<void>
  readonly release: () => void
}

interface Fault {
  readonly which: Which
  before: number
  left: number
  readonly moment: "before" | "after"
  readonly act: (call: Call) => Promise<Answer | "lost" | undefined>
}

export class Faults {
  readonly #faults: Array<Fault> = []
  readonly #forbidden = new Set<string>()
  readonly #missing = new Set<string>()
  /** All calls that came, in their order. */
  readonly calls: Array<Call> = []

  #add(which: Which, moment: Fault["moment"], act: Fault["act"]): void {
    this.#faults.push({ which, before: which.after ?? 0, left: which.times ?? 1, moment, act })
  }

  /** Answers the next calls by an error: 429 and 503 with `retryAfter` seconds, for example. */
  answer(which: Which, status: number, retryAfter?: number): void {
    const body = {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code: status,
      message: "not now",
      reason: "Unavailable"
    }
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }
    this.#add(which, "before", async () => ({ status, body, headers }))
  }

  /** Carries out the next calls and closes their connections without an answer. */
  loseAnswer(which: Which): void {
    this.#add(which, "after", async () => "lost")
  }

  /** Closes the connections of the next calls before they do anything. */
  loseCall(which: Which): void {
    this.#add(which, "before", async () => "lost")
  }

  /** The next call waits before it is carried out. */
  pause(which: Which): Paused {
    const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.#add(which, "before", async () => {
      reached.resolve()
      await go.promise
      return undefined
    })
    return { reached: reached.promise, release: () => go.resolve() }
  }

  /** Does something right before the next call is carried out, for example a change that it did not see. */
  before(which: Which, act: () => void | Promise<void>): void {
    this.#add(which, "before", async () => {
      await act()
      return undefined
    })
  }

  async meet(moment: Fault["moment"], call: Call): Promise<Answer | "lost" | undefined> {
    for (const fault of this.#faults.filter((it) => it.moment === moment && matches(it, call))) {
      if (fault.before-- > 0) continue
      fault.left--
      const answer = await fault.act(call)
      if (answer !== undefined) return answer
    }
    return undefined
  }

  /** Takes a right from the caller: `create volumesnapshots.snapshot.storage.k8s.io`. */
  forbid(verb: string, resource: Resource): void {
    this.#forbidden.add(`${verb} ${nameOf(resource)}`)
  }

  permits({ resource, verb }: { readonly verb: string; readonly resource: string }): boolean {
    return !this.#forbidden.has(`${verb} ${resource}`)
  }

  /** Removes the definitions of an API group. */
  uninstall(group: string): void {
    this.#missing.add(group)
  }

  isServed({ group }: Resource): boolean {
    return !this.#missing.has(group)
  }

  /** Ends all faults. */
  clear(): void {
    this.#faults.length = 0
    this.#forbidden.clear()
    this.#missing.clear()
  }

  /** Waits for a call, from those that came after the given number. */
  async called(what: string, which: Which, after = 0): Promise<void> {
    await until(what, () => this.calls.slice(after).some((call) => isMeant(which, call)))
  }
}

const isMeant = ({ name, resource, verb }: Which, call: Call) =>
  (verb === undefined || verb === call.verb) &&
  (resource === undefined || resource === call.resource) &&
  (name === undefined || name === call.name)

const matches = ({ left, which }: Fault, call: Call) => left > 0 && isMeant(which, call)
