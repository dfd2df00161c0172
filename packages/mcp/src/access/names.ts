/** Finds projects and branches by id or name. Ids are used as they are; names are looked up in the first pages of a list. */
import { type BranchId, type ProjectId, pages, parseBranchId, parseProjectId } from "@narthex/api"
import { Effect, Option, Stream } from "effect"
import type { Caller } from "./Caller.ts"
import { calling } from "./explain.ts"
import { Refused } from "./Refused.ts"

/** Pages of a thousand in which a name is looked for. */
const searchedPages = 20

interface Named {
  readonly id: string
  readonly name: string
}

const only = <A extends Named>(kind: string, wanted: string, found: ReadonlyArray<A>): Effect.Effect<A, Refused> => {
  const [first, ...others] = found.filter(({ name }) => name === wanted)
  if (first === undefined)
    return Effect.fail(
      new Refused({
        rule: "not_found",
        reason: `There is no ${kind} with this name or id.`,
        allowed: "the projects of list_projects and the branches of describe_project, by id or exact name."
      })
    )
  return others.length === 0
    ? Effect.succeed(first)
    : Effect.fail(
        new Refused({
          rule: "ambiguous",
          reason: `Several of them have this name: ${[first, ...others].map(({ id }) => id).join(", ")}.`,
          allowed: "the id of one of them."
        })
      )
}

const pageSize = 1000

const query = (cursor: string | undefined) => (cursor === undefined ? { limit: pageSize } : { limit: pageSize, cursor })

/** Reads the first pages of a list. */
const listed = <A, E, R>(
  read: (
    cursor: string | undefined
  ) => Effect.Effect<
    { readonly items: ReadonlyArray<A>; readonly pagination: { readonly next_cursor: string | null } },
    E,
    R
  >
) =>
  pages(read).pipe(
    Stream.take(searchedPages),
    Stream.catchTag("PageRepeated", () => Stream.empty),
    Stream.runFold(
      (): Array<A> => [],
      (all, { items }) => [...all, ...items]
    )
  )

export const projectOf = Effect.fn("projectOf")(function* (
  wanted: string
): Effect.fn.Return<ProjectId, Refused, Caller> {
  const id = parseProjectId(wanted)
  if (Option.isSome(id)) return id.value
  const found = yield* listed((cursor) =>
    Effect.map(
      calling(({ api }) => api.projects.list({ query: query(cursor) })),
      ({ pagination, projects }) => ({ items: projects, pagination })
    )
  )
  return (yield* only("project", wanted, found)).id
})

/** The branch as it is now. */
export const branchOf = Effect.fn("branchOf")(function* (project: string, wanted: string) {
  const project_id = yield* projectOf(project)
  const branch_id = yield* branchNamed(project_id, wanted)
  const { branch } = yield* calling(({ api }) => api.branches.get({ params: { project_id, branch_id } }))
  return branch
})

/** The id of the branch with this id or name. */
export const branchNamed = Effect.fnUntraced(function* (
  project_id: ProjectId,
  wanted: string
): Effect.fn.Return<BranchId, Refused, Caller> {
  const id = parseBranchId(wanted)
  if (Option.isSome(id)) return id.value
  const found = yield* listed((cursor) =>
    Effect.map(
      calling(({ api }) => api.branches.list({ params: { project_id }, query: query(cursor) })),
      ({ branches, pagination }) => ({ items: branches, pagination })
    )
  )
  return (yield* only("branch", wanted, found)).id
})

export type FoundBranch = Effect.Success<ReturnType<typeof branchOf>>

/** *main*: the default branch, and every protected one. */
export const isMain = (branch: Pick<FoundBranch, "default" | "protected">): boolean =>
  branch.default || branch.protected
