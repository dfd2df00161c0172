/** `narthex-server`: API, runner and console of one instance, and the operator commands. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { inManner } from "./manner.ts"
import { operatorCommands } from "./operator.ts"
import type { Role } from "./platform.ts"
import { CannotStart, runProcess, servePlatform, withSettings } from "./run.ts"
import { version } from "./version.ts"

const known: ReadonlyArray<Role> = ["api", "runner", "console"]
const isRole = (text: string): text is Role => known.some((role) => role === text)

const roles = Flag.String("roles").pipe(
  Flag.withDefault(known.join(",")),
  Flag.withDescription("Which parts this instance runs: api, runner, console")
)

const main = withSettings(false, (settings, addresses) => {
  const start = Effect.fnUntraced(function* ({ roles: wanted }: { readonly roles: string }) {
    const names = wanted.split(",").map((name) => name.trim())
    const unknown = names.find((name) => !isRole(name))
    if (unknown !== undefined)
      return yield* new CannotStart({ reason: `--roles: "${unknown}" is not a role. Roles are ${known.join(", ")}.` })
    return yield* servePlatform(settings, addresses, names.filter(isRole))
  })
  const serve = Command.make("narthex-server", { roles }, start).pipe(
    Command.withDescription("Serve the control plane, or run an operator command against its store"),
    Command.withExamples([
      { command: "narthex-server --roles api,runner", description: "Serve" },
      { command: "narthex-server accounts list", description: "Run an operator command" }
    ]),
    Command.withSubcommands(operatorCommands(settings))
  )
  return inManner(Command.run(serve, { version }))
})

runProcess(main)
