/** A machine on which processes wait for the CPU. */
import { spawn } from "node:child_process"
import { availableParallelism } from "node:os"
import { Effect } from "effect"

/** Keeps every core busy, with one process more than there are cores. */
export const contention = Effect.acquireRelease(
  Effect.sync(() =>
    Array.from({ length: availableParallelism() + 1 }, () =>
      spawn("nice", ["-n", "19", process.execPath, "-e", "for (;;);"], { stdio: "ignore" })
    )
  ),
  (processes) =>
    Effect.sync(() => {
      for (const it of processes) it.kill("SIGKILL")
    })
)
