/**
 * The hidden command of the completion scripts: `narthex __complete <shell> <words…>`. It prints candidates and nothing
 * else, whatever fails: a server that does not answer, a missing credential, an unusable file.
 */
import { sizeNumbers } from "@narthex/api"
import { Effect, Option, Redacted } from "effect"
import { type Command, Completions } from "effect/cli"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { ContextFlag } from "../contexts/ContextFlag.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { cachedNames } from "./cachedNames.ts"
import { globalFlags } from "./globalFlags.ts"
import { type Candidate, type Plan, planCompletion } from "./planCompletion.ts"
import { candidateLines, shells, wordsFrom } from "./scripts.ts"

/** `args` are those after the name of the hidden command. */
export const complete = Effect.fn("complete")(
  function* (root: Command.Command.Any, [name, ...args]: ReadonlyArray<string>) {
    const shell = shells.find((known) => known === name)
    if (shell === undefined) return
    const plan = planCompletion(Completions.fromCommand(root), globalFlags, wordsFrom(shell, args))
    const candidates = plan._tag === "Words" ? plan.candidates : yield* named(plan)
    if (candidates.length > 0) yield* (yield* Output).text(candidateLines(shell, candidates, args.at(-1)))
  },
  (effect) => Effect.ignoreCause(effect)
)

const named = Effect.fnUntraced(function* (plan: Plan & { readonly _tag: "Names" }) {
  const found = yield* plan.kind === "context" ? contexts : fromServer(plan)
  return found
    .filter(({ value }) => value.startsWith(plan.typed))
    .map(({ description, value }) => ({ value: plan.before + value, description }))
})

const contexts = Effect.gen(function* () {
  const stored = yield* (yield* ContextFile).read
  return Object.entries(stored.contexts).map(
    ([value, { organization }]): Candidate => ({ value, description: organization?.name ?? "" })
  )
})

/** The first hundred: more than that cannot be chosen from. */
const query = { limit: 100 }

const fromServer = Effect.fnUntraced(function* ({ context, kind, project }: Plan & { readonly _tag: "Names" }) {
  const api = yield* (yield* Connection).authenticated.pipe(
    Effect.provideService(ContextFlag, Option.fromNullishOr(context))
  )
  const { secret, url } = api.bearer
  return yield* cachedNames([url, Redacted.value(secret), kind, project ?? ""], namesOf(api, kind, project))
})

const namesOf = (
  api: AuthenticatedApi,
  kind: (Plan & { readonly _tag: "Names" })["kind"],
  project: string | undefined
) =>
  Effect.gen(function* () {
    const { branches, endpoints, projects, regions } = api.client.api
    if (kind === "project") return (yield* projects.list({ query })).projects.map(nameAndId)
    if (kind === "region")
      return (yield* regions.list()).regions.map(
        ({ name, region_id }): Candidate => ({ value: region_id, description: name })
      )
    if (kind === "size")
      return (yield* endpoints.sizes()).sizes.map(
        (size): Candidate => ({ value: size.name, description: sizeNumbers(size) })
      )
    const params = { project_id: (yield* chooseProject(api, Option.fromNullishOr(project))).id }
    if (kind === "branch") return (yield* branches.list({ params, query })).branches.map(nameAndId)
    return (yield* endpoints.list({ params, query })).endpoints.map(
      ({ current_state, id }): Candidate => ({ value: id, description: current_state })
    )
  })

const nameAndId = ({ id, name }: { readonly id: string; readonly name: string }): Candidate => ({
  value: name,
  description: id
})
