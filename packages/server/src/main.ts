/** `npm start`: the whole platform in one process. */
import { program, runProcess, servePlatform } from "./run.ts"

runProcess(
  program(
    { name: "narthex-platform", does: "Run the whole platform: API, runner, console and Postgres proxy" },
    servePlatform(["api", "runner", "console", "proxy"], true)
  )
)
