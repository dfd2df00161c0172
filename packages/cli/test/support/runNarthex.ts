/** Runs the command line inside the test's process, with streams, environment and browser of the test's own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Sink, Stdio, Stream } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { TestConsole } from "effect/testing"
import { Browser, cliLayer, Environment, readEnvironment, runCli } from "@narthex/cli"

export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Setting {
  readonly variables?: Readonly<Record<string, string>>
  readonly home: string
  /** All of standard input; left out: it ends at once. */
  readonly stdin?: string
  /** Standard input and output are a terminal. */
  readonly terminal?: boolean
  readonly open?: (url: string) => Effect.Effect<boolean>
}

/** A home directory of the test's own. */
export const freshHome = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "narthex-cli-"))),
  (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true }))
)

export const runNarthex = (args: ReadonlyArray<string>, setting: Setting): Effect.Effect<Run> =>
  Effect.suspend(() => {
    const terminal = setting.terminal === true
    let raw = ""
    const stdio = Stdio.layerTest({
      stdin: setting.stdin === undefined ? Stream.empty : Stream.succeed(new TextEncoder().encode(setting.stdin)),
      stdinIsTerminal: Effect.succeed(terminal),
      stdoutIsTerminal: Effect.succeed(terminal),
      stderrIsTerminal: Effect.succeed(terminal),
      stderr: () =>
        Sink.forEach((piece: string | Uint8Array) =>
          Effect.sync(() => {
            raw += typeof piece === "string" ? piece : new TextDecoder().decode(piece)
          })
        )
    })
    const variables = { DISPLAY: ":0", ...setting.variables }
    const layer = cliLayer.pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          Layer.succeed(Environment, readEnvironment(variables, { home: setting.home, platform: "linux" })),
          FetchHttpClient.layer,
          TestConsole.layer,
          Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
            canAnimate: false,
            canColor: false,
            canPrompt: terminal
          })
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
      const lines = (said: ReadonlyArray<unknown>) => said.map((line) => `${String(line)}\n`).join("")
      return { code, stdout: lines(yield* TestConsole.logLines), stderr: lines(yield* TestConsole.errorLines) + raw }
    }).pipe(Effect.provide(layer))
  })
