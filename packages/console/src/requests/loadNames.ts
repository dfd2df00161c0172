/** The names in sentences about events and operations. */
import { type NamesRecord, parseOrgId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import { type Names, noNames } from "../views/eventWords.ts"

/** The most members that are read, newest first. */
const named = { limit: 100 }

/** The names that a history came with. Without them, ids are shown short. */
export const namesOf = (found: typeof NamesRecord.Type | undefined): Names =>
  found === undefined
    ? noNames
    : {
        projects: new Map(found.projects.map(({ id, name }) => [id, name])),
        branches: new Map(found.branches.map(({ id, name, parent_id }) => [id, { name, parent_id }])),
        people: peopleIn(found.people)
      }

/** The names of the newest members, by their ids. Other people are shown by the name that their deed has. */
export const peopleOf = (org_id: string) =>
  Effect.gen(function* () {
    const id = yield* idOrNotFound(parseOrgId(org_id))
    const { members } = yield* calling((api) => api.orgs.members({ params: { org_id: id }, query: named }))
    return peopleIn(members.map(({ user_id, ...member }) => ({ ...member, id: user_id })))
  })

interface PersonNamed {
  readonly id: string
  readonly email: string | null
  readonly name: string | null
}

const peopleIn = (people: ReadonlyArray<PersonNamed>): ReadonlyMap<string, string> =>
  new Map(
    people.flatMap(({ email, id, name }) => {
      const shown = name ?? email
      return shown === null ? [] : [[id, shown] as const]
    })
  )
