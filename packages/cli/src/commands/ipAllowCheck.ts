/** `narthex ip-allow check`: whether an address may connect to a project, and by which rule. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { pastedArgument, projectFlag } from "../input/flags.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts } from "../output/table.ts"
import { yesNo } from "../tables/states.ts"

/** Exit 0 for both results: the answer is the result, and a refused address is not a failure of the command. */
export const check = Command.make(
  "check",
  {
    address: pastedArgument("address").pipe(Argument.withDescription("An IP address"), Argument.optional),
    current: Flag.Boolean("current").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Your own address, as the API sees it"),
      Flag.withDefault(false)
    ),
    project: projectFlag
  },
  ({ address: given, current, project }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        if (Option.isSome(given) === current)
          return yield* new UsageMistake({
            message: "Give either an address or --current.",
            hint: "narthex ip-allow check --current"
          })
        const api = yield* (yield* Connection).authenticated
        const { id: project_id } = yield* chooseProject(api, project)
        const address = Option.isSome(given) ? given.value : (yield* api.client.api.auth.clientAddress()).address
        const { body, value } = yield* output.waiting(
          "Checking the address",
          answered(api.client.api.ipAllow.check({ params: { project_id }, query: { address }, ...withBody }))
        )
        const { allowed, matched } = value
        yield* output.answer({
          body,
          table: facts(
            ["address", address],
            ["allowed", yesNo(allowed)],
            ["rule", matched ?? (allowed ? "none: the project accepts every address" : "none matches")]
          )
        })
        if (!allowed) yield* output.note(`To allow it: narthex ip-allow add ${address} --project ${project_id}`)
      })
    )
).pipe(
  Command.withDescription("Check whether an address may connect, and by which rule"),
  Command.withExamples([
    { command: "narthex ip-allow check --current --project shop" },
    { command: "narthex ip-allow check 203.0.113.7 -o json | jq .allowed" }
  ])
)
