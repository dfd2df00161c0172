/**
 * What a row of the matrix is.
 *
 * A cell is what the page writes: a status, a letter, `own / other` for narrowed keys. `2` stands for the call's own
 * success. A star marks a refusal that depends on the object (step 11, or the service's), so that a foreign object is
 * not found first. A dash: the page says nothing.
 */
import type { On } from "../World.ts"

/** What the path of a call names, and so which objects stand on its third axis. */
export type Kind =
  | "none"
  | "organization"
  | "leave"
  | "member"
  | "owner_member"
  | "invitation"
  | "owner_invitation"
  | "project"
  | "branch"
  | "endpoint"
  | "operation"
  | "key"
  | "own_key"
  | "others_key"
  | "session"
  | "other_org"

export interface Call {
  /** `group.endpoint` of the contract. */
  readonly call: string
  /** What it does, where one endpoint stands in several rows. */
  readonly as?: string
  readonly kind?: Kind
  /** On which branch; a child that no agent made, unless said. */
  readonly on?: On
  /** The success of the page, where it is not 200. */
  readonly success?: number
  readonly body?: (ids: Ids) => unknown
  readonly query?: string
  /** What is foreign, invented and malformed gets, where that is not `not_found`. */
  readonly elsewhere?: string
  /** Cells of this call that the page sets apart from its row's. */
  readonly except?: Readonly<Record<string, string>>
  /** The list that a filtered answer is, and what every item of it must hold. */
  readonly filtered?: readonly [list: string, member: string]
}

export type Ids = Readonly<Record<string, string>>

export interface Row {
  readonly row: string
  readonly says: string
  /** As on the page: – ! P X O A M V KW KP KB KR KA. */
  readonly cells: string
  readonly calls: ReadonlyArray<Call>
}

/** Never the same twice. */
export const text = () => `t${Math.random().toString(36).slice(2)}`.padEnd(24, "x")
export const name = () => ({ name: text() })
export const email = () => ({ email: `${text()}@example.com` })
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
