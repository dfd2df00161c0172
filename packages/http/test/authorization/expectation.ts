/**
 * What a cell of the matrix says about one caller and one object of the third axis.
 *
 * The rules are the page's: narrowed read and agent keys are derived, a foreign or unknown object is 404 to a credential
 * of the organization, and what is refused before the look-up (steps 2 to 9) is refused alike for every object.
 */
import { columns, narrowOf, type Principal, wideOf } from "./principals.ts"
import type { Call, Kind, Row } from "./rows/cells.ts"

/** Objects of the third axis. `crossed…`, `invented` and `malformed` stand under the caller's own project. */
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

/** The objects that a kind has. `other` of an organization is another membership of the caller's. */
export const sidesOf = ({ kind = "none", on = "child" }: Call): ReadonlyArray<Side> => {
  if (kind === "none") return ["own"]
  if (kind === "branch" || kind === "endpoint" || kind === "operation")
    return on === "child" ? nested : nested.filter((side) => side !== "sibling")
  if (kind === "leave" || kind === "other_org" || kind === "own_key")
    return kind === "own_key" ? ["own"] : ["own", "foreign", "invented", "malformed"]
  return plain
}

const ofProject = new Set<Kind>(["project", "branch", "endpoint", "operation"])
/** Kinds of which the page says in the cell what another one's object gets. */
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

/** The cell of a caller, derived where the page has no column for it. */
const cellOf = (row: Row, call: Call, principal: Principal): Cell => {
  if (principal === "XK") return { own: row.row === "1" ? "2" : row.row === "26" ? "401" : "n", other: undefined }
  if (principal === "PK") {
    const pending = parsed(written(row, call, "P"))
    if (call.except?.["PK"] !== undefined) return parsed(call.except["PK"])
    // What only sessions may do refuses the key at step 6; what passes no pending account, at step 4 already.
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

/** Is the object under a path that the scope of a narrowed key holds? */
const inScope = (narrow: "KP" | "KB", kind: Kind, side: Side): boolean => {
  if (side === "own") return true
  if (narrow === "KB" || !ofProject.has(kind) || kind === "project") return false
  return ["sibling", "crossed", "crossedForeign", "invented", "malformed"].includes(side)
}

/** What the caller gets: a status, a letter, `f`, or `-` where the page says nothing. */
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
