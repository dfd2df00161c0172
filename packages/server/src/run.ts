/** Runs a composition as a process: settings, start, announcement (docs/design/settings.md S6), orderly end (S7). */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { StorageError } from "@narthex/core"
import { Cause, Effect, Exit, Layer, Schema, type Scope } from "effect"
import { Command } from "effect/cli"
import { type Addresses, settleAddresses } from "./addresses.ts"
import { readyLine, readyText } from "./announce.ts"
import { sharesAccount } from "./computes.ts"
import { startProviders } from "./identity.ts"
import { checkListeners, listenersOf } from "./listeners.ts"
import { layerLogging } from "./logging.ts"
import { exitCodeOf, inManner, isExplained, sayFailure } from "./manner.ts"
import { layerPlatform, type Role, rolesOf } from "./platform.ts"
import { modeText } from "./settings/mode.ts"
import { type InvalidSettings, loadSettings, type Settings } from "./settings/Settings.ts"
import { hasAccount, layerStorage, regionOf } from "./store.ts"
import { layerTelemetry } from "./telemetry.ts"
import { version } from "./version.ts"

const terminal = process.stdout.isTTY === true

const say = (text: string) => Effect.sync(() => void process.stdout.write(`${text}\n`))

/** After Ctrl-C. A failure has its own sentence. */
const sayStopped = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? say("\nStopped.") : Effect.void

/** Starts the roles, announces them, and runs until it is interrupted. */
export const servePlatform = (settings: Settings, addresses: Addresses, wanted: ReadonlyArray<Role>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const roles = rolesOf(settings, wanted)
      if (terminal) yield* Effect.addFinalizer(sayStopped) // the first finalizer runs last
      yield* Effect.logInfo(`Mode: ${modeText(settings)}.`)
      yield* Effect.forEach(settings.warnings, (sentence) => Effect.logWarning(sentence))
      // A standby listens once it has taken over: until then the other process may have the ports.
      const isStandby = settings.compute_standby !== null && roles.includes("runner")
      const listening = [...roles.filter((role) => role !== "runner"), "admin"] as const
      if (!isStandby) yield* checkListeners(listenersOf(addresses, settings, listening))
      // Side by side: the store starts in processes of its own, while this one starts the providers.
      const starting = [Layer.build(layerStorage(settings)), startProviders(settings, addresses)] as const
      const [storage, providers] = yield* Effect.all(starting, { concurrency: "unbounded" })
      const region = yield* Effect.provide(regionOf(settings), storage)
      yield* Layer.build(layerPlatform({ settings, region, addresses, providers, roles, storage }))
      const compute_accounts = settings.compute !== "local" ? null : sharesAccount(settings) ? "shared" : "own"
      const { data_dir } = settings
      const known = Effect.provide(hasAccount, storage)
      const up = { addresses, compute_accounts, data_dir, pid: process.pid, providers, roles, settings } as const
      yield* terminal ? say(readyText({ ...up, first: !(yield* known) })) : say(readyLine(up))
      return yield* Effect.never
    })
  )

/** A program that takes its settings from the environment: it has `--help` and `--version`, and refuses other arguments. */
export const program = <A, E>(
  { does, name }: { readonly name: string; readonly does: string },
  main: Effect.Effect<A, E>
) => inManner(Command.run(Command.make(name, {}, () => main).pipe(Command.withDescription(does)), { version }))

/** Reads the settings, decides the addresses, and runs `work` with the log and telemetry of the settings. */
export const withSettings = <A, E>(
  standalone: boolean,
  work: (settings: Settings, addresses: Addresses) => Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<A, E | InvalidSettings> =>
  Effect.gen(function* () {
    const settings = yield* loadSettings({ standalone, terminal })
    const addresses = yield* settleAddresses(settings)
    return yield* Effect.scoped(work(settings, addresses)).pipe(
      Effect.provide(Layer.provideMerge(layerTelemetry(settings, addresses), layerLogging(settings)))
    )
  })

/** The process cannot start with these arguments or settings. `reason` is a sentence for the operator. */
export class CannotStart extends Schema.TaggedError<CannotStart>()("CannotStart", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** The error's message, or that of its cause where it has none of its own, as a listener that cannot bind its port. */
const sentence = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof StorageError) return error.line
  return error.message === "" && error.cause !== undefined ? sentence(error.cause) : error.message
}

/** A failed start prints one sentence on stderr, without a stack, and exits with 1. Interruption is success. */
export const runProcess = <A, E>(main: Effect.Effect<A, E>): void =>
  NodeRuntime.runMain(
    Effect.tapCause(main, (cause) =>
      Cause.hasInterruptsOnly(cause) || isExplained(Cause.squash(cause))
        ? Effect.void
        : Effect.sync(() => sayFailure(sentence(Cause.squash(cause))))
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, onExit) =>
        onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : exitCodeOf(Cause.squash(exit.cause)))
    }
  )
