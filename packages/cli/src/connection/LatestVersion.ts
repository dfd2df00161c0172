/**
 * The notice about a newer command line (docs/design/cli.md C17). It needs no request: responses of the API name the
 * newest version in the header `Narthex-Cli-Latest`.
 *
 * The notice is one line on standard error, on a terminal only, at most once a day. The file `last-notice` next to the
 * credentials file stores the time of the last notice, in milliseconds.
 */
import { join } from "node:path"
import { Clock, Context, Duration, Effect, Layer, Schema, Stdio } from "effect"
import { readPrivate, writePrivate } from "../contexts/privateFiles.ts"
import { Environment } from "../environment/Environment.ts"
import { version } from "../environment/version.ts"
import { Output } from "../output/Output.ts"

export class LatestVersion extends Context.Service<
  LatestVersion,
  {
    /** Records the version in a response header. */
    readonly record: (latest: string) => void
    /** Prints the notice if it is due. Runs at the end of a command. */
    readonly notice: Effect.Effect<void>
  }
>()("@narthex/cli/connection/LatestVersion") {
  static readonly layer: Layer.Layer<LatestVersion, never, Environment | Output | Stdio.Stdio> = Layer.effect(
    LatestVersion,
    Effect.gen(function* () {
      const { folder, quietAboutUpdates } = yield* Environment
      const { stderrIsTerminal } = yield* Stdio.Stdio
      const output = yield* Output
      const path = join(folder, "last-notice")
      let latest: string | undefined

      return LatestVersion.of({
        record: (version) => {
          latest = version
        },
        notice: Effect.gen(function* () {
          if (latest === undefined || quietAboutUpdates || !isNewer(latest, version)) return
          if (!(yield* stderrIsTerminal)) return
          const now = yield* Clock.currentTimeMillis
          if (now - (yield* lastNotice(path)) < Duration.toMillis(Duration.days(1))) return
          yield* output.note(`narthex ${latest} is available; this is ${version}. To update: ${update}`)
          yield* Effect.try({
            try: () => writePrivate(path, String(now)),
            catch: (cause) => new NoticeUnstored({ cause })
          })
        }).pipe(Effect.catchTag("NoticeUnstored", (error) => Effect.logDebug(error)))
      })
    })
  )
}

const update = "npm install --global @narthex/cli@latest"

class NoticeUnstored extends Schema.TaggedError<NoticeUnstored>()("NoticeUnstored", { cause: Schema.Unknown }) {}

const lastNotice = (path: string) =>
  Effect.map(
    Effect.try({ try: () => readPrivate(path), catch: (cause) => new NoticeUnstored({ cause }) }),
    (found) => Number(found?.text ?? 0) || 0
  )

const release = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/

/** Compares the three numbers of a release. Anything but a release is never newer. */
export const isNewer = (latest: string, present: string): boolean => {
  const [, ...newest] = release.exec(latest) ?? []
  const [, ...current] = release.exec(present) ?? []
  const differs = newest.findIndex((part, index) => part !== current[index])
  return current.length > 0 && differs !== -1 && Number(newest[differs]) > Number(current[differs])
}
