/** Measurements of the bystander: times and failures of its work, and how long its operations waited for a place. */
import { classOf, type OperationClass } from "../../../packages/core/src/records/operations/OperationClass.ts"
import { type Caller, eventuallyMust, listAt, must, textAt } from "./Caller.ts"

/** Steps that a client waits for, compared before and during the attack. */
export const steps = ["list", "connect", "event", "wake", "create"] as const
export type Step = (typeof steps)[number]

/**
 * The parts of a wake and a creation, by the record of their operation: it waits for a place, the runner works on it,
 * and the rest is the way to the operation and back.
 */
const parts = ["wake: place", "wake: start", "wake: rest", "create: place", "create: copy", "create: rest"] as const

export const rows = [...steps, ...parts]
export type Row = (typeof rows)[number]

/** An operation from its creation to its begin, in milliseconds by the platform's clock. */
export interface Wait {
  readonly class: OperationClass
  readonly from: number
  readonly to: number
}

export interface Measured {
  /** Milliseconds, in the order of the rounds. */
  readonly took: Readonly<Record<Row, Array<number>>>
  readonly failures: Array<{ readonly step: string; readonly reason: string }>
  readonly waits: Array<Wait>
}

export const nothingMeasured = (): Measured => ({
  took: {
    list: [],
    connect: [],
    event: [],
    wake: [],
    create: [],
    "wake: place": [],
    "wake: start": [],
    "wake: rest": [],
    "create: place": [],
    "create: copy": [],
    "create: rest": []
  },
  failures: [],
  waits: []
})

/** When an operation, as the API shows it, reached a state, in milliseconds. */
const at = (operation: Record<string, unknown>, member: "created_at" | "started_at" | "finished_at") =>
  Date.parse(textAt(operation, member))

type Action = "start_compute" | "create_branch"

/** Adds the parts of a step that took `whole` milliseconds from its operation, the newest of this action on this thing. */
export const addParts = async (
  into: Measured,
  caller: Caller,
  { action, of, project }: { readonly project: string; readonly action: Action; readonly of: string },
  whole: number
) => {
  const path = `/v1/projects/${project}/operations?limit=1&action=${action}&${of}`
  const [operation] = listAt(await must(caller, "GET", path), "operations")
  if (operation === undefined) throw new Error(`${path} has no operation.`)
  const [from, to, end] = [at(operation, "created_at"), at(operation, "started_at"), at(operation, "finished_at")]
  const [step, work] =
    action === "start_compute" ? (["wake", "wake: start"] as const) : (["create", "create: copy"] as const)
  into.took[`${step}: place`].push(to - from)
  into.took[work].push(end - to)
  into.took[`${step}: rest`].push(whole - (end - from))
  into.waits.push({ class: classOf(action), from, to })
}

/** When the operations of a class began that these callers' organizations have, in milliseconds. */
const begunBy = async (caller: Caller): Promise<ReadonlyArray<readonly [of: OperationClass, at: number]>> => {
  const begun: Array<readonly [OperationClass, number]> = []
  for (const project of await all(caller, "/v1/projects", "projects"))
    for (const operation of await all(caller, `/v1/projects/${textAt(project, "id")}/operations`, "operations")) {
      // The API names no other actions.
      const action = textAt(operation, "action") as Parameters<typeof classOf>[0]
      if (typeof operation["started_at"] === "string") begun.push([classOf(action), at(operation, "started_at")])
    }
  return begun
}

/** Every page of a list. */
const all = async (caller: Caller, path: string, name: string) => {
  const items: Array<Record<string, unknown>> = []
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page: Record<string, unknown> = await eventuallyMust(caller, "GET", `${path}?limit=1000${cursor}`)
    items.push(...listAt(page, name))
    const { pagination } = page
    const next: unknown =
      typeof pagination === "object" && pagination !== null ? Reflect.get(pagination, "next_cursor") : null
    cursor = typeof next === "string" ? `&cursor=${next}` : undefined
  }
  return items
}

/** For each wait, how many operations of its class these callers' organizations began in it: places that others took. */
export const overtaken = async (waits: ReadonlyArray<Wait>, others: ReadonlyArray<Caller>) => {
  const begun = (await Promise.all(others.map(begunBy))).flat()
  return waits.map((wait) => ({
    ...wait,
    by: begun.filter(([of, time]) => of === wait.class && time >= wait.from && time <= wait.to).length
  }))
}
