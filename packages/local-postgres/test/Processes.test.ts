/** Which processes run, asked of the kernel. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, within } from "../../../test/harness/eventually.ts"
import { isRunning } from "../src/machine/Processes.ts"

/** A process that never waits for its child, and the child, which ends. */
const careless = Effect.acquireRelease(
  Effect.promise(async () => {
    const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 1000"], { stdio: ["ignore", "pipe", "inherit"] })
    const [line] = await within("the child", once(createInterface({ input: parent.stdout }), "line"))
    return { parent: parent.pid ?? 0, child: Number(line) }
  }),
  ({ parent }) => Effect.sync(() => process.kill(parent, "SIGKILL"))
)

it.live("a process that has ended and that its parent has not waited for does not run", () =>
  Effect.gen(function* () {
    const { child, parent } = yield* careless
    yield* eventually(
      "the child to end",
      Effect.sync(() => !isRunning(child))
    )
    assert.isTrue(process.kill(child, 0))
    assert.isTrue(isRunning(parent))
  }).pipe(Effect.scoped)
)
