/** However a walk ends, no process of it keeps running and no file is left. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { assert, describe, it } from "@effect/vitest"
import { until, within } from "../harness/eventually.ts"
import { leftovers, type Walk } from "./leftovers.ts"

/** One process that has the mark, and one that only its working directory identifies, like a Postgres server. */
const program = `
  import { Ground } from ${JSON.stringify(join(import.meta.dirname, "ground.ts"))}
  const ground = new Ground()
  const { openTerminal } = ground.newcomer()
  const begun = "sleep 1000 & cd " + ground.folder + " && exec -c setsid sleep 1000"
  openTerminal().begin("sleep", begun)
  console.log(JSON.stringify(ground.walk))
  setInterval(() => undefined, 1_000)
`

const sleepers = (walk: Walk) => leftovers(walk).filter((line) => line.includes("sleep 1000"))

describe("a walk", () => {
  it("a killed walk leaves no process and no file", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    let complaints = ""
    child.stderr.on("data", (text: Buffer) => {
      complaints += text.toString()
    })
    try {
      const first = Promise.race([once(createInterface({ input: child.stdout }), "line"), once(child, "exit")])
      const [line] = await within("the walk to begin", first)
      assert.isString(line, complaints)
      const walk: Walk = JSON.parse(line)
      await until("both of its processes to run", () => sleepers(walk).length === 2)
      child.kill("SIGKILL")
      await until("the guard to clear up", () => leftovers(walk).length === 0 && !existsSync(walk.folders[0] ?? ""))
    } finally {
      child.kill("SIGKILL")
    }
  })
})
