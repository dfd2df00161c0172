/** Operator commands in the test's process: what each prints, and the sentence with which it fails. */
import { loadSettings } from "@narthex/server"
import { Cause, ConfigProvider, Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { silent } from "../../../packages/postgres/test/support/silent.ts"
import { exitCodeOf, inManner } from "../../../packages/server/src/manner.ts"
import { operatorCommands } from "../../../packages/server/src/operator.ts"
import type { Environment } from "./Program.ts"

export interface Operated {
  /** The process would end with this. */
  readonly code: number
  readonly lines: ReadonlyArray<string>
  /** The lines on standard error, without the log. */
  readonly notes: ReadonlyArray<string>
  /** The message of the process about its failure. */
  readonly refusal: string | undefined
}

/** `narthex-server <args>` with these settings. */
export const operate = (environment: Environment, ...args: ReadonlyArray<string>): Effect.Effect<Operated> =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const notes: Array<string> = []
    const recording = {
      ...(yield* Console.Console),
      log: (text: unknown) => void lines.push(...String(text).split("\n")),
      error: (text: unknown) => void notes.push(...String(text).split("\n"))
    }
    const command = Effect.gen(function* () {
      const settings = yield* loadSettings({ standalone: false, terminal: false })
      const server = Command.make("narthex-server").pipe(Command.withSubcommands(operatorCommands(settings)))
      yield* inManner(Command.runWith(server, { version: "0.0.0" })(args))
    })
    const exit = yield* command.pipe(
      Effect.provideService(Console.Console, recording),
      Effect.provide([ConfigProvider.layer(ConfigProvider.fromUnknown(environment)), silent]),
      Effect.exit
    )
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    const refusal = error === undefined ? undefined : error instanceof Error ? error.message : String(error)
    return { code: error === undefined ? 0 : exitCodeOf(error), lines, notes, refusal }
  })
