/**
 * The meaning of each member of the bodies, with an example. The OpenAPI document, the reference and the examples of all
 * bodies are made from it. A member has its entry at its schema (`means` of the core), or else in these tables.
 *
 * A key is a member's name, or `Owner.member` where the member means something special there. The owner is a named
 * schema (`Branch`), `Problem` for all problems, the id of an operation for the members of its body (`projects.create`),
 * that id with `.answer` for those of its answer, or the member that holds the object (`initiator`).
 */
import type { MemberEntry } from "@narthex/core"
import { declaredMembers } from "./declaredMembers.ts"
import { commonMembers } from "./members/common.ts"
import { peopleMembers } from "./members/people.ts"
import { projectsMembers } from "./members/projects.ts"
import { proxiesMembers } from "./members/proxies.ts"
import { webhookMembers } from "./members/webhooks.ts"

export const memberCatalog: Readonly<Record<string, MemberEntry>> = {
  ...commonMembers,
  ...projectsMembers,
  ...peopleMembers,
  ...proxiesMembers,
  ...webhookMembers
}

let declared: ReadonlyMap<string, MemberEntry> | undefined

/** The entry of a member at its schema. */
export const declaredEntry = (owner: string, member: string): MemberEntry | undefined => {
  declared ??= declaredMembers()
  return declared.get(`${owner}.${member}`)
}

/** The entry of a member: at its schema, else at this owner in the tables, else under its name alone. */
export const memberEntry = (owner: string, member: string): MemberEntry | undefined =>
  declaredEntry(owner, member) ?? memberCatalog[`${owner}.${member}`] ?? memberCatalog[member]
