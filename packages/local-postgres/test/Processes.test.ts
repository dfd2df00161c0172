/** Which processes run, asked of the kernel. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, within } from "../../../test/harness/eventually.ts"
import { isRunning } from "../src/machine/Processes.ts"

/**
 * A process that never waits for its child, and the child, which `ends`.
 *
 * Pitfall: a child that ends by itself. On a busy machine it does so while the parent is still the shell, which waits for it.
 */
const careless = Effect.acquireRelease(
  Effect.promise(async () => {
    const parent = spawn("sh", ["-c", "exec 3<&0; cat <&3 & echo $!; exec sleep 1000"], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    const [line] = await within("the child", once(createInterface({ input: parent.stdout }), "line"))
    return { parent: parent.pid ?? 0, child: Number(line), ends: Effect.sync(() => void parent.stdin.end()) }
  }),
  ({ parent }) => Effect.sync(() => process.kill(parent, "SIGKILL"))
)

const programOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, "utf8").trim()

it.live("a process that has ended and that its parent has not waited for does not run", () =>
  Effect.gen(function* () {
    const { child, ends, parent } = yield* careless
    yield* eventually(
      "the parent to be a program that does not wait",
      Effect.sync(() => programOf(parent) === "sleep")
    )
    assert.isTrue(isRunning(child))
    yield* ends
    yield* eventually(
      "the child to end",
      Effect.sync(() => !isRunning(child))
    )
    assert.isTrue(process.kill(child, 0))
    assert.isTrue(isRunning(parent))
  }).pipe(Effect.scoped)
)
