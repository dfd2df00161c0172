/** `npm start`: the whole platform in one process. */
import { runProcess, servePlatform } from "./run.ts"

runProcess(servePlatform(["api", "runner", "console", "proxy"], true))
