/** `npm start`: the whole platform in one process. */
import { program, runProcess, servePlatform, withSettings } from "./run.ts"

runProcess(
  program(
    { name: "narthex-platform", does: "Run the whole platform: API, runner, console and Postgres proxy" },
    withSettings(true, (settings, addresses) =>
      servePlatform(settings, addresses, ["api", "runner", "console", "proxy"])
    )
  )
)
