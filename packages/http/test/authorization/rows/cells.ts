/**
 * How to read a row of the matrix, for example `cells: "401 401 a n 2 2 2 r 2 2/i i c c"`.
 *
 * A row has 13 cells, one per column, in this order (docs/design/authorization.md Z29; `columns` in
 * `../principals.ts`):
 *
 * | Column | Caller |
 * |---|---|
 * | 1  `-`  | no credential |
 * | 2  `!`  | an invalid credential |
 * | 3  `P`  | a session of a pending account |
 * | 4  `X`  | a session of a former member |
 * | 5  `O`  | a session of an owner |
 * | 6  `A`  | a session of an admin |
 * | 7  `M`  | a session of a member |
 * | 8  `V`  | a session of a viewer |
 * | 9  `KW` | an owner's API key: capability `read_write`, scope organization |
 * | 10 `KP` | an owner's API key: `read_write`, scope project |
 * | 11 `KB` | an owner's API key: `read_write`, scope branch |
 * | 12 `KR` | an owner's API key: `read`, scope organization |
 * | 13 `KA` | an owner's API key: `agent`, scope organization |
 *
 * A cell is the answer that the caller gets:
 *
 * | Cell | Answer |
 * |---|---|
 * | `2` | the success of the call: 200, or the call's own `success` |
 * | `401`, `404`, `409` | that status |
 * | `a` | 403 `alpha_pending` |
 * | `n` | 403 `not_a_member` |
 * | `s` | 403 `session_required` |
 * | `k` | 403 `key_self_only` |
 * | `i` | 403 `scope_insufficient` |
 * | `c` | 403 `capability_insufficient` |
 * | `r` | 403 `role_insufficient` |
 * | `f` | 200 with a list that is filtered to the scope of the key |
 * | `-` | not specified, so not tested |
 * | `x/y` | `x` for an object in the key's scope or of the caller, `y` for any other of the organization |
 * | `x*` | `x`, which depends on the object; a foreign or unknown object is 404 before it |
 *
 * The example reads: without a valid credential 401; a pending account and a former member are refused; owners, admins
 * and members succeed, and viewers lack the role; organization and project keys succeed, the project key inside its
 * project only; the branch key is out of scope; `read` and `agent` keys lack the capability.
 *
 * Every call is also made on objects of other projects and organizations, and on invented and malformed ids; what each
 * gets is derived in `../expectation.ts`.
 */
import type { On } from "../World.ts"

/** The kind of object that the path of a call names. */
export type Kind =
  | "none"
  | "organization"
  | "leave"
  | "member"
  | "owner_member"
  | "invitation"
  | "owner_invitation"
  | "own_invitation"
  | "webhook"
  | "project"
  | "branch"
  | "endpoint"
  | "credential"
  | "others_credential"
  | "operation"
  | "key"
  | "own_key"
  | "others_key"
  | "session"
  | "other_org"

export interface Call {
  /** `group.endpoint`, as the contract names them. */
  readonly call: string
  /** The effect of the call, where an endpoint stands in several rows. */
  readonly as?: string
  readonly kind?: Kind
  /** The kind of branch; left out: a child branch that no agent key made. */
  readonly on?: On
  /** The status of success; left out: 200. */
  readonly success?: number
  readonly body?: (ids: Ids) => unknown
  readonly query?: string
  /** The answer for foreign, invented and malformed ids; left out: 404. */
  readonly elsewhere?: string
  /** Cells of this call that differ from its row's, by column. */
  readonly except?: Readonly<Record<string, string>>
  /** For `f`: the member of the answer that is the list, and the member by which its items are checked. */
  readonly filtered?: readonly [list: string, member: string]
}

export type Ids = Readonly<Record<string, string>>

export interface Row {
  /** The number of the row: `4b` comes after `4`. */
  readonly row: string
  /** The calls of the row, in words. */
  readonly says: string
  /** One cell per column: - ! P X O A M V KW KP KB KR KA. The legend is at the top of this file. */
  readonly cells: string
  readonly calls: ReadonlyArray<Call>
}

/** Different at each call. */
export const text = () => `t${Math.random().toString(36).slice(2)}`.padEnd(24, "x")
export const name = () => ({ name: text() })
export const email = () => ({ email: `${text()}@example.com` })
export const receiver = () => ({ url: `https://hooks.example.com/${text()}` })
export const network = () => `10.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}.0/24`
export const authorization = () => ({
  redirect_uri: "http://127.0.0.1:43210/callback",
  state: text(),
  code_challenge: "c".repeat(43),
  name: "laptop"
})
/** The same call on several branches. */
export const on = (branches: ReadonlyArray<On>, make: (on: On) => Call | ReadonlyArray<Call>): ReadonlyArray<Call> =>
  branches.flatMap(make)
