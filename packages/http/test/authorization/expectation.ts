/**
 * The expected answer for a caller and an object, from the cell of the matrix.
 *
 * The rules are those of docs/design/authorization.md Z30 and Z31: narrowed `read` and `agent` keys are derived, a foreign
 * or unknown object is 404 to a credential of the organization, and a refusal before the look-up (steps 2 to 9) is the
 * same for every object.
 */
import { columns, narrowOf, type Principal, wideOf } from "./principals.ts"
import type { Call, Kind, Row } from "./rows/cells.ts"

/** The objects that calls are made on. `crossed…`, `invented` and `malformed` are ids in a path of the caller's own project. */
export type Side =
  | "own"
  | "sibling"
  | "other"
  | "crossed"
  | "foreign"
  | "crossedForeign"
  | "invented"
  | "malformed"
  | "inventedProject"
  | "malformedProject"

const nested: ReadonlyArray<Side> = [
  "own",
  "sibling",
  "other",
  "crossed",
  "foreign",
  "crossedForeign",
  "invented",
  "malformed",
  "inventedProject",
  "malformedProject"
]
const plain: ReadonlyArray<Side> = ["own", "other", "foreign", "invented", "malformed"]

/** Kinds whose path names a project and something in it. */
const insideProjects = new Set<Kind>(["branch", "endpoint", "operation", "credential", "others_credential"])

/** The objects of a kind. `other` of an organization is another organization of the caller. */
export const sidesOf = ({ kind = "none", on = "child" }: Call): ReadonlyArray<Side> => {
  if (kind === "none") return ["own"]
  if (insideProjects.has(kind)) return on === "child" ? nested : nested.filter((side) => side !== "sibling")
  if (kind === "leave" || kind === "other_org" || kind === "own_key")
    return kind === "own_key" ? ["own"] : ["own", "foreign", "invented", "malformed"]
  return plain
}

const ofProject = new Set<Kind>(["project", ...insideProjects])
/** Kinds whose cells say what another person's object gets. */
const ownedByPeople = new Set<Kind>(["key", "others_key"])

const early = new Set(["401", "a", "n", "s", "k", "i", "r", "c"])

interface Cell {
  readonly own: string
  readonly other: string | undefined
}

const parsed = (text: string): Cell => {
  const [own = "-", other] = text.split("/")
  return { own, other }
}

const written = (row: Row, call: Call, principal: Principal): string => {
  const index = (columns as ReadonlyArray<Principal>).indexOf(principal)
  return call.except?.[principal] ?? row.cells.split(" ")[index] ?? "-"
}

/** The cell of a caller, derived for callers without a column. */
const cellOf = (row: Row, call: Call, principal: Principal): Cell => {
  if (principal === "XK") return { own: row.row === "1" ? "2" : row.row === "26" ? "401" : "n", other: undefined }
  if (principal === "PK") {
    const pending = parsed(written(row, call, "P"))
    if (call.except?.["PK"] !== undefined) return parsed(call.except["PK"])
    // Step 4 refuses the pending account; a call that passes it but needs a session refuses the key at step 6.
    return pending.own !== "a" && written(row, call, "KW") === "s" ? { own: "s", other: undefined } : pending
  }
  const narrow = narrowOf(principal)
  if (narrow === undefined || principal === narrow) return parsed(written(row, call, principal))
  const scoped = parsed(written(row, call, narrow))
  if (["s", "k", "i"].includes(scoped.own)) return scoped
  const capable = parsed(written(row, call, wideOf(principal)))
  const filtered = scoped.own === "f" && capable.own === "2"
  return { own: filtered ? "f" : capable.own, other: scoped.other }
}

/** Whether the path of the object lies in the scope of a narrowed key. */
const inScope = (narrow: "KP" | "KB", kind: Kind, side: Side): boolean => {
  if (side === "own") return true
  if (narrow === "KB" || !ofProject.has(kind) || kind === "project") return false
  return ["sibling", "crossed", "crossedForeign", "invented", "malformed"].includes(side)
}

/** The outcome for the caller: a status, a letter, `f`, or `-` where nothing is specified. */
export const expected = (row: Row, call: Call, principal: Principal, side: Side): string => {
  const { kind = "none" } = call
  const cell = cellOf(row, call, principal)
  const refused = cell.own.replace("*", "")
  if (cell.own === "-" || side === "own") return refused
  if (early.has(cell.own) && cell.other === undefined) return cell.own

  const narrow = narrowOf(principal)
  if (narrow !== undefined && cell.other !== undefined && !inScope(narrow, kind, side)) return cell.other
  if (early.has(cell.own)) return cell.own
  if (side === "sibling") return refused
  if (side === "other" && ofProject.has(kind)) return refused
  if (side === "other" && ownedByPeople.has(kind)) return cell.other ?? refused
  return call.elsewhere ?? "404"
}
