/** Runs the command line inside the test's process, with streams, environment and browser from the test. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Browser, cliLayer, Environment, readEnvironment, runCli } from "@narthex/cli"
import { Console, Duration, Effect, Layer, Sink, Stdio, Stream } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { TestConsole } from "effect/testing"
import { CompletionPatience } from "../../src/completion/cachedNames.ts"
import { ScreenColumns } from "../../src/output/ScreenColumns.ts"

export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Setting {
  readonly variables?: Readonly<Record<string, string>>
  readonly home: string
  /** Default: the home. */
  readonly workingFolder?: string
  /** The whole of standard input. Default: empty. */
  readonly stdin?: string
  /** The same, if it is known only while the command runs. */
  readonly stdinLater?: Effect.Effect<Uint8Array>
  /** Called with each line of standard error as it is written. */
  readonly onNote?: (line: string) => void
  /** Called with each line of standard output. */
  readonly onAnswer?: (line: string) => void
  /** Standard input and output are a terminal. */
  readonly terminal?: boolean
  /** The width of the terminal. */
  readonly columns?: number
  /** How long completion waits for the server. Default: a minute. */
  readonly completionPatience?: Duration.Duration
  readonly open?: (url: string) => Effect.Effect<boolean>
}

/** A new home directory, removed after the test. */
export const freshHome = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "narthex-cli-"))),
  (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true }))
)

export const runNarthex = (args: ReadonlyArray<string>, setting: Setting): Effect.Effect<Run> =>
  Effect.suspend(() => {
    const terminal = setting.terminal === true
    const raw: Array<string> = []
    const stdio = Stdio.layerTest({
      stdin:
        setting.stdinLater !== undefined
          ? Stream.fromEffect(setting.stdinLater)
          : setting.stdin === undefined
            ? Stream.empty
            : Stream.succeed(new TextEncoder().encode(setting.stdin)),
      stdinIsTerminal: Effect.succeed(terminal),
      stdoutIsTerminal: Effect.succeed(terminal),
      stderrIsTerminal: Effect.succeed(terminal),
      stderr: () => Sink.map(Sink.collect<string | Uint8Array>(), (pieces) => void raw.push(...pieces.map(String)))
    })
    const variables = { DISPLAY: ":0", ...setting.variables }
    const layer = cliLayer.pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          Layer.succeed(
            Environment,
            readEnvironment(variables, {
              home: setting.home,
              platform: "linux",
              workingFolder: setting.workingFolder ?? setting.home
            })
          ),
          FetchHttpClient.layer,
          consoleOf(setting),
          Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
            canAnimate: false,
            canColor: false,
            canPrompt: terminal
          }),
          Layer.succeed(ScreenColumns, () => setting.columns),
          Layer.succeed(CompletionPatience, setting.completionPatience ?? Duration.minutes(1))
        )
      ),
      Layer.provideMerge(
        Layer.succeed(Browser, {
          isAway: false,
          open: setting.open ?? (() => Effect.succeed(false))
        })
      ),
      Layer.provideMerge(stdio),
      Layer.provideMerge(NodeServices.layer)
    )
    return Effect.gen(function* () {
      const code = yield* runCli(args)
      const lines = (parts: ReadonlyArray<unknown>) => parts.map((line) => `${String(line)}\n`).join("")
      return {
        code,
        stdout: lines(yield* TestConsole.logLines),
        stderr: lines(yield* TestConsole.errorLines) + raw.join("")
      }
    }).pipe(Effect.provide(layer))
  })

/** A console whose lines are kept for the end, and passed to the callbacks at once. */
const consoleOf = ({ onAnswer, onNote }: Setting): Layer.Layer<never> =>
  Layer.effect(
    Console.Console,
    Effect.map(TestConsole.make, (inner) =>
      Object.assign(Object.create(inner), {
        log: (...parts: ReadonlyArray<unknown>) => {
          inner.log(...parts)
          onAnswer?.(parts.map(String).join(" "))
        },
        error: (...parts: ReadonlyArray<unknown>) => {
          inner.error(...parts)
          onNote?.(parts.map(String).join(" "))
        }
      })
    )
  )
