/** `narthex branch rename|protect|unprotect|expire|reset|set-default|delete`. */
import { BranchName, type ChangeBranch } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { follow, waitFlags } from "../following/follow.ts"
import { followChange } from "../following/followChange.ts"
import { confirm } from "../input/confirm.ts"
import { branchArgument, fittingArgument, projectFlag, ttlFlag, yesFlag } from "../input/flags.ts"
import { branchNamed } from "../names/branches.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { sentence } from "../output/table.ts"
import { branchFacts } from "../tables/branches.ts"

interface Given {
  readonly branch: string
  readonly project: Option.Option<string>
}

/** The path of the branch that the command names. */
const pathOf = Effect.fnUntraced(function* (api: AuthenticatedApi, { branch, project }: Given) {
  const { id } = yield* chooseProject(api, project)
  return { project_id: id, branch_id: yield* branchNamed(api, id, { name: branch }) }
})

const change = Effect.fnUntraced(function* (given: Given, what: string, payload: ChangeBranch) {
  const output = yield* Output
  const api = yield* (yield* Connection).authenticated
  const asked = Effect.flatMap(pathOf(api, given), (params) =>
    answered(api.client.api.branches.change({ params, payload, ...withBody }))
  )
  const { body, value } = yield* output.waiting(what, asked)
  yield* output.answer({ body, table: branchFacts(value.branch) })
})

const rename = Command.make(
  "rename",
  {
    branch: branchArgument,
    name: fittingArgument("name", BranchName).pipe(Argument.withDescription("The new name")),
    project: projectFlag
  },
  ({ name, ...given }) => reporting(change(given, "Renaming the branch", { name }))
).pipe(
  Command.withDescription("Rename a branch; its id and addresses stay"),
  Command.withExamples([{ command: "narthex branch rename preview staging" }])
)

const protect = Command.make("protect", { branch: branchArgument, project: projectFlag }, (given) =>
  reporting(change(given, "Protecting the branch", { protected: true }))
).pipe(
  Command.withDescription("Protect a branch from deletion and reset"),
  Command.withExamples([{ command: "narthex branch protect staging" }])
)

const unprotect = Command.make(
  "unprotect",
  { branch: branchArgument, project: projectFlag, yes: yesFlag },
  ({ yes, ...given }) =>
    reporting(
      Effect.gen(function* () {
        yield* confirm(`The branch ${given.branch} can be deleted and reset after this.`, yes)
        yield* change(given, "Removing the protection", { protected: false })
      })
    )
).pipe(
  Command.withDescription("Remove the protection of a branch"),
  Command.withExamples([{ command: "narthex branch unprotect staging" }])
)

const expire = Command.make(
  "expire",
  {
    branch: branchArgument,
    project: projectFlag,
    ttl: ttlFlag("Delete the branch after this time from now: 90 (seconds), 30m, 8h, 7d"),
    never: Flag.Boolean("never").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Keep the branch until it is deleted"),
      Flag.withDefault(false)
    ),
    yes: yesFlag
  },
  ({ never, ttl, yes, ...given }) =>
    reporting(
      Effect.gen(function* () {
        if (Option.isSome(ttl) === never)
          return yield* new UsageMistake({
            message: "Give either --ttl or --never.",
            hint: "narthex branch expire preview --ttl 7d"
          })
        if (Option.isSome(ttl))
          yield* confirm(`The branch ${given.branch} and its data will be deleted in ${ttl.value} seconds.`, yes)
        yield* change(given, "Changing the lifetime", { ttl_seconds: Option.getOrNull(ttl) })
      })
    )
).pipe(
  Command.withDescription("Set when a branch is deleted"),
  Command.withExamples([
    { command: "narthex branch expire preview --ttl 7d --yes" },
    { command: "narthex branch expire preview --never" }
  ])
)

const reset = Command.make(
  "reset",
  { branch: branchArgument, project: projectFlag, yes: yesFlag, ...waitFlags },
  ({ timeout, wait, yes, ...given }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const params = yield* pathOf(api, given)
        yield* confirm(
          `The data of the branch ${given.branch} will be replaced by the present data of its parent, which cannot be undone.`,
          yes
        )
        const changed = yield* output.waiting(
          "Resetting the branch",
          answered(api.client.api.branches.reset({ params, ...withBody }))
        )
        yield* followChange(api, changed, ({ branch }) => branchFacts(branch), { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Replace the data of a branch by that of its parent"),
  Command.withExamples([{ command: "narthex branch reset preview --yes --wait" }])
)

const setDefault = Command.make(
  "set-default",
  { branch: branchArgument, project: projectFlag, ...waitFlags },
  ({ timeout, wait, ...given }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.flatMap(pathOf(api, given), (params) =>
          answered(api.client.api.branches.setDefault({ params, ...withBody }))
        )
        const changed = yield* output.waiting("Setting the default branch", asked)
        yield* followChange(api, changed, ({ branch }) => branchFacts(branch), { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Make a branch the default branch of its project"),
  Command.withExamples([{ command: "narthex branch set-default staging" }])
)

const remove = Command.make(
  "delete",
  { branch: branchArgument, project: projectFlag, yes: yesFlag, ...waitFlags },
  ({ timeout, wait, yes, ...given }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const params = yield* pathOf(api, given)
        yield* confirm(
          `The branch ${given.branch} will be deleted with its data and endpoints, which cannot be undone.`,
          yes
        )
        const { body, value } = yield* output.waiting(
          "Deleting the branch",
          answered(api.client.api.branches.delete({ params, ...withBody }))
        )
        yield* output.answer({ body, table: sentence(`The branch ${given.branch} is deleted.`) })
        yield* follow(api, value.operations, { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Delete a branch with its data and endpoints"),
  Command.withExamples([{ command: "narthex branch delete preview" }])
)

/** The commands that change a branch, for `branches.ts`. */
export const branchChanges = [rename, protect, unprotect, expire, reset, setDefault, remove] as const
