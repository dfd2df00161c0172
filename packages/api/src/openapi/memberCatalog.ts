/**
 * What each member of the bodies means, with an example: the table from which the OpenAPI document, the reference and the
 * examples of all bodies are made.
 *
 * A key is a member's name, or `Owner.member` where the member means something special there. The owner is a named
 * schema (`Branch`), `Problem` for all problems, the id of an operation for the members of its body (`projects.create`),
 * that id with `.answer` for those of its answer, or the member that holds the object (`initiator`).
 */
import { commonMembers } from "./members/common.ts"
import type { MemberEntry } from "./members/MemberEntry.ts"
import { peopleMembers } from "./members/people.ts"
import { projectsMembers } from "./members/projects.ts"
import { proxiesMembers } from "./members/proxies.ts"

export const memberCatalog: Readonly<Record<string, MemberEntry>> = {
  ...commonMembers,
  ...projectsMembers,
  ...peopleMembers,
  ...proxiesMembers
}

/** The entry of a member: its own at this owner, else that of its name. */
export const memberEntry = (owner: string, member: string): MemberEntry | undefined =>
  memberCatalog[`${owner}.${member}`] ?? memberCatalog[member]
