/** The process that starts programs: its life, and what becomes of the programs. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { eventually, until } from "../../../test/harness/eventually.ts"
import { isRunning } from "../src/machine/Processes.ts"
import { environment, startServer } from "../src/machine/programStarter.ts"
import { runProgram } from "../src/machine/runProgram.ts"
import { closedDirectory, dataDirectory, kinds, supervise } from "./support.ts"

/** Says who it and its parent are in a file, and goes on. */
const lasting = (file: string) =>
  runProgram("sh", ["-c", `echo $$ $PPID > '${file}.new' && mv '${file}.new' '${file}' && exec sleep 1000`])

const pidsIn = (file: string): ReadonlyArray<number> => {
  try {
    return readFileSync(file, "utf8").trim().split(" ").map(Number)
  } catch {
    return []
  }
}

/** Kills what a failed test leaves: a process that is stopped would stay for ever, and hold the output of this run. */
const endsAtLast = (pids: () => ReadonlyArray<number>) =>
  Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const pid of pids().filter(isRunning)) process.kill(pid, "SIGKILL")
    })
  )

/** The pid of the process that starts programs now. */
const starter = Effect.map(runProgram("sh", ["-c", "echo $PPID"]), Number)

describe("the process that starts programs", () => {
  it.live("a program that fails is an error with what it printed", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(runProgram("sh", ["-c", "echo a; echo b >&2; exit 3"]))
      assert.deepInclude(failed, { operation: "sh", reason: "it ended with code 3. b", printed: "b\n" })
      assert.include((yield* Effect.flip(runProgram("/nowhere", []))).reason, "ENOENT")
      assert.include((yield* Effect.flip(runProgram("true", [], { directory: "/nowhere" }))).reason, "ENOENT")
    })
  )

  it.live("an interruption kills the program and waits for its end", () =>
    Effect.gen(function* () {
      const file = join(yield* closedDirectory, "pids")
      const fiber = yield* Effect.forkChild(lasting(file))
      yield* eventually(
        "the program to run",
        Effect.sync(() => pidsIn(file).length === 2)
      )
      yield* Fiber.interrupt(fiber)
      assert.isFalse(isRunning(pidsIn(file)[0] ?? 0))
    }).pipe(Effect.scoped)
  )

  it.live("signals to the terminal's processes do not end it, and the programs of one that was killed fail", () =>
    Effect.gen(function* () {
      const file = join(yield* closedDirectory, "pids")
      yield* endsAtLast(() => pidsIn(file))
      const first = yield* starter
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.kill(first, signal)
      assert.strictEqual(yield* starter, first)
      const fiber = yield* Effect.forkChild(Effect.flip(lasting(file)))
      yield* eventually(
        "the program to run",
        Effect.sync(() => pidsIn(file).length === 2)
      )
      process.kill(first, "SIGKILL")
      assert.include((yield* Fiber.join(fiber)).reason, "ended with SIGKILL")
      assert.notStrictEqual(yield* starter, first)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "a starter that is stopped is killed with its programs, except for servers, and the next program has another starter",
    () =>
      Effect.gen(function* () {
        const directory = yield* closedDirectory
        const file = join(directory, "pids")
        const log = join(directory, "log")
        const server = yield* startServer({ command: "sleep", args: ["1000"], from: "/", environment, log })
        yield* endsAtLast(() => [server.pid, ...pidsIn(file)])
        const running = yield* Effect.forkChild(Effect.flip(lasting(file)))
        yield* eventually(
          "the program to run",
          Effect.sync(() => pidsIn(file).length === 2)
        )
        const [program = 0, first = 0] = pidsIn(file)
        process.kill(first, "SIGSTOP")
        const waiting = yield* Effect.forkChild(Effect.flip(runProgram("true", [])), { startImmediately: true })
        yield* TestClock.adjust("30 seconds")
        assert.include((yield* Fiber.join(waiting)).reason, "did not start one within 30 seconds")
        assert.include((yield* Fiber.join(running)).reason, "did not start one within 30 seconds")
        yield* Effect.promise(() => until("the program to end", () => !isRunning(program)))
        assert.deepStrictEqual([isRunning(server.pid), server.hasEnded()], [true, false])
        assert.notStrictEqual(yield* starter, first)
      }).pipe(Effect.scoped)
  )

  it.effect("a program that was interrupted before a stopped starter began it never starts", () =>
    Effect.gen(function* () {
      const file = join(yield* closedDirectory, "pids")
      const first = yield* starter
      yield* endsAtLast(() => [first, ...pidsIn(file)])
      process.kill(first, "SIGSTOP")
      const waiting = yield* Effect.forkChild(lasting(file), { startImmediately: true })
      const interruption = yield* Effect.forkChild(Fiber.interrupt(waiting), { startImmediately: true })
      yield* TestClock.adjust("6 seconds")
      yield* Fiber.join(interruption)
      yield* Effect.promise(() => until("the process that starts programs to end", () => !isRunning(first)))
      assert.isEmpty(pidsIn(file))
    }).pipe(Effect.scoped)
  )

  it.live("the starter ends with the process that it works for, and kills its programs", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const file = join(yield* closedDirectory, "pids")
      const supervisor = yield* supervise({ run: "program", dataDir, binaries: kinds[0].choice, file })
      yield* endsAtLast(() => pidsIn(file))
      yield* eventually(
        "the program to run",
        Effect.sync(() => pidsIn(file).length === 2)
      )
      yield* supervisor.end("SIGKILL")
      yield* Effect.promise(() => until("both processes to end", () => !pidsIn(file).some(isRunning)))
    }).pipe(Effect.scoped)
  )
})
