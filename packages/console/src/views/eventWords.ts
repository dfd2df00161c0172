/**
 * Events and operations as sentences with names: "Ada created branch preview from main". The activity page, the
 * overview of a project and its operations all take their words from here.
 *
 * Pure: data in, parts of a sentence out. Names that are not known stay short ids, so a page looks up as many as it can
 * afford. Types, actions and states that this version does not know are shown as their codes in words.
 */
import type { Envelope, OperationAction, OperationStatus } from "@narthex/api"
import { DateTime } from "effect"
import type { Tone } from "../components/tone.ts"

/** The names that a page has looked up, by id. */
export interface Names {
  readonly projects: ReadonlyMap<string, string>
  readonly branches: ReadonlyMap<string, { readonly name: string; readonly parent_id: string | null }>
  readonly people: ReadonlyMap<string, string>
}

export const noNames: Names = { projects: new Map(), branches: new Map(), people: new Map() }

/** The subject of a sentence: an operation, as an event or a record of the API describes it. */
export interface Work {
  readonly action: string
  readonly status: string
  readonly project_id: string | null
  readonly branch_id: string | null
  readonly error: string | null
  readonly initiator: { readonly type: string; readonly id: string | null; readonly name: string | null } | null
}

/** Text, or a name that stands out. */
export type Part = string | { readonly name: string }

export interface Sentence {
  readonly parts: ReadonlyArray<Part>
  readonly tone: Tone
  /** Why it failed, or what it waits for. */
  readonly error: string | null
}

/** `prj-01hzx…` as its kind and its last characters: `prj-…9w3k`. */
export const shortId = (id: string): string => id.replace(/^([a-z]+-)?.*(.{6})$/, "$1…$2")

/** A code as words: `create_timeline` is "create timeline". */
const spaced = (code: string): string => code.replaceAll(/[._]/g, " ")

const name = (text: string): Part => ({ name: text })

const projectName = (id: string | null, names: Names): Part =>
  id === null ? "a project" : name(names.projects.get(id) ?? shortId(id))

const branchName = (id: string | null, names: Names): Part =>
  id === null ? "a branch" : name(names.branches.get(id)?.name ?? shortId(id))

/** ` from main`; nothing when the origin is not known. */
const origin = (word: string, id: string | null, names: Names): ReadonlyArray<Part> => {
  const parent = id === null ? null : (names.branches.get(id)?.parent_id ?? null)
  return parent === null ? [] : [` ${word} `, branchName(parent, names)]
}

type Words = (work: Work, names: Names) => ReadonlyArray<Part>

interface Deed {
  readonly will: string
  readonly doing: string
  readonly done: string
  /** The object of the sentence. */
  readonly what: Words
}

/** Whether the branch is the one that its project began with, which is deleted with the project alone. */
export const isRoot = (id: string | null, { branches }: Names): boolean =>
  id !== null && branches.get(id)?.parent_id === null

/** Whether it is about the project as a whole. */
const ofProject = ({ action, branch_id }: Work, names: Names): boolean =>
  action === "create_timeline" || (action === "delete_timeline" && isRoot(branch_id, names))

const ofBranch =
  (before: string): Words =>
  ({ branch_id }, names) => [before, branchName(branch_id, names)]

const create = { will: "create", doing: "creating", done: "created" }
const remove = { will: "delete", doing: "deleting", done: "deleted" }

const deeds: Readonly<Record<OperationAction, Deed>> = {
  create_timeline: { ...create, what: ({ project_id }, names) => ["project ", projectName(project_id, names)] },
  create_branch: {
    ...create,
    what: (work, names) => [...ofBranch("branch ")(work, names), ...origin("from", work.branch_id, names)]
  },
  delete_timeline: {
    ...remove,
    what: (work, names) =>
      ofProject(work, names) ? ["project ", projectName(work.project_id, names)] : ofBranch("branch ")(work, names)
  },
  reset_branch: {
    will: "reset",
    doing: "resetting",
    done: "reset",
    what: (work, names) => [...ofBranch("branch ")(work, names), ...origin("to", work.branch_id, names)]
  },
  create_compute: { ...create, what: ofBranch("an endpoint of ") },
  start_compute: { will: "start", doing: "starting", done: "started", what: ofBranch("") },
  suspend_compute: { will: "suspend", doing: "suspending", done: "suspended", what: ofBranch("") },
  apply_config: { will: "update", doing: "updating", done: "updated", what: ofBranch("the roles of ") },
  delete_compute: { ...remove, what: ofBranch("an endpoint of ") }
}

/** Labels of the actions, for a choice among them. */
export const actionChoices: Readonly<Record<OperationAction, string>> = {
  create_timeline: "create the project",
  create_branch: "create a branch",
  delete_timeline: "delete a branch",
  reset_branch: "reset a branch",
  create_compute: "create an endpoint",
  start_compute: "start a compute",
  suspend_compute: "suspend a compute",
  apply_config: "update roles",
  delete_compute: "delete an endpoint"
}

/** Labels of the statuses, for a choice among them. */
export const statusChoices: Readonly<Record<OperationStatus, string>> = {
  scheduling: "waiting",
  running: "running",
  finished: "finished",
  failed: "failed after retries",
  error: "failed at once",
  cancelling: "being cancelled",
  cancelled: "cancelled",
  skipped: "skipped"
}

const unknownDeed = (action: string): Deed => ({
  will: spaced(action),
  doing: `performing “${spaced(action)}” for`,
  done: `performed “${spaced(action)}” for`,
  what: ofBranch("")
})

const deedOf = (action: string): Deed =>
  Object.hasOwn(deeds, action) ? deeds[action as OperationAction] : unknownDeed(action) // `hasOwn` checked it

interface Told {
  readonly tone: Tone
  /** The words between the actor and the object, and after the object. */
  readonly said: (deed: Deed) => readonly [before: string, after?: string]
}

const tellings: Readonly<Record<OperationStatus, Told>> = {
  scheduling: { tone: "busy", said: ({ will }) => [`asked to ${will}`] },
  running: { tone: "busy", said: ({ doing }) => [`is ${doing}`] },
  finished: { tone: "good", said: ({ done }) => [done] },
  failed: { tone: "bad", said: ({ will }) => [`could not ${will}`] },
  error: { tone: "bad", said: ({ will }) => [`could not ${will}`] },
  cancelling: { tone: "busy", said: ({ doing }) => [`is ${doing}`, ", which is being cancelled"] },
  cancelled: { tone: "idle", said: ({ will }) => [`began to ${will}`, ", which was cancelled"] },
  skipped: { tone: "idle", said: ({ will }) => [`asked to ${will}`, ", and there was nothing to do"] }
}

const tellingOf = (status: string): Told =>
  Object.hasOwn(tellings, status)
    ? tellings[status as OperationStatus] // `hasOwn` checked it
    : { tone: "idle", said: ({ will }) => [`asked to ${will}`, `: ${spaced(status)}`] }

/** Who did it. A key stands for itself, because its name says what it is for. */
const actor = ({ initiator }: Work, { people }: Names): ReadonlyArray<Part> => {
  if (initiator === null || initiator.type === "system") return ["The platform"]
  if (initiator.type === "proxy") return ["A connection"]
  const known = initiator.id === null ? undefined : people.get(initiator.id)
  if (initiator.type === "api_key") return initiator.name === null ? ["An API key"] : ["The key ", name(initiator.name)]
  return [name(known ?? initiator.name ?? "A person")]
}

export interface SentenceOptions {
  /** Ends with the project, for pages that show several. */
  readonly withProject?: boolean
}

/** The sentence about an operation in its present state. */
export const sentenceOf = (work: Work, names: Names, { withProject = false }: SentenceOptions = {}): Sentence => {
  const deed = deedOf(work.action)
  const { said, tone } = tellingOf(work.status)
  const [before, after = ""] = said(deed)
  const place = withProject && work.project_id !== null && !ofProject(work, names)
  return {
    tone,
    error: work.error,
    parts: [
      ...actor(work, names),
      ` ${before} `,
      ...deed.what(work, names).filter((part) => part !== ""),
      ...(place ? [" in ", projectName(work.project_id, names)] : []),
      ...(after === "" ? [] : [after])
    ]
  }
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

/** The operation that an event reports; `null` for an event of another type. */
export const workOf = ({ data, project_id, type }: Envelope): (Work & { readonly operation_id: string }) | null => {
  const operation_id = textOf(data["operation_id"])
  if (type !== "operation.updated.v1" || operation_id === null) return null
  const by = data["initiator"]
  const initiator = typeof by === "object" && by !== null && !Array.isArray(by) ? by : null
  return {
    operation_id,
    action: textOf(data["action"]) ?? "",
    status: textOf(data["status"]) ?? "",
    project_id: project_id ?? null,
    branch_id: textOf(data["branch_id"]),
    error: textOf(data["error"]),
    initiator:
      initiator === null
        ? null
        : {
            type: textOf((initiator as Record<string, unknown>)["type"]) ?? "system",
            id: textOf((initiator as Record<string, unknown>)["id"]),
            name: textOf((initiator as Record<string, unknown>)["name"])
          }
  }
}

/** An event of any type. An event without an operation is shown by its type: `invoice.paid.v1` is "Invoice paid". */
export const sentenceOfEvent = (event: Envelope, names: Names, options: SentenceOptions = {}): Sentence => {
  const work = workOf(event)
  if (work !== null) return sentenceOf(work, names, options)
  const words = spaced(event.type.replace(/\.v\d+$/, ""))
  const place = options.withProject === true && event.project_id !== undefined
  return {
    tone: "idle",
    error: null,
    parts: [
      words.charAt(0).toUpperCase() + words.slice(1),
      ...(place ? [" in ", projectName(event.project_id ?? null, names)] : [])
    ]
  }
}

/** The sentence as text, for titles and tests. */
export const plain = ({ parts }: Sentence): string =>
  parts.map((part) => (typeof part === "string" ? part : part.name)).join("")

/** How long it took: `0.4 s`, `12 s`, `2 min 5 s`, `1 h 2 min`. A number and its unit stay on one line. */
export const tookWords = (milliseconds: number): string => {
  const words = (...parts: ReadonlyArray<readonly [amount: number | string, unit: string]>) =>
    parts.map(([amount, unit]) => `${amount}\u00a0${unit}`).join(" ")
  if (milliseconds < 10_000) return words([(Math.max(0, milliseconds) / 1000).toFixed(1), "s"])
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return words([seconds, "s"])
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? words([minutes, "min"], [seconds % 60, "s"])
    : words([Math.floor(minutes / 60), "h"], [minutes % 60, "min"])
}

/** Milliseconds from one instant to another. */
export const between = (from: DateTime.Utc, to: DateTime.Utc): number =>
  DateTime.toEpochMillis(to) - DateTime.toEpochMillis(from)
