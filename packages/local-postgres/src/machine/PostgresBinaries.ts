/**
 * Finds the Postgres programs: those of the system, of npm, or of a directory.
 *
 * A candidate is accepted when `postgres --version` succeeds as the user that will run it. A directory that this user
 * cannot enter is therefore refused here, with a reason, and not during a start.
 */
import { readdir, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect, Option } from "effect"
import { attempt, LocalPostgresError, PostgresBinariesMissing } from "./LocalPostgresError.ts"
import { npmBinaries } from "./NpmBinaries.ts"
import type { PostgresUser } from "./PostgresUser.ts"
import { runProgram } from "./runProgram.ts"

export interface PostgresBinaries {
  readonly directory: string
  /** 15, 16, 17, 18, … Data of one major version cannot be read by another. */
  readonly major: number
}

export interface BinariesWanted {
  /** `system`, `npm` or a directory. Default: the first of system and npm that is usable. */
  readonly choice?: string | undefined
  /** The major version of existing data. Default: any that is supported. */
  readonly major?: number | undefined
}

/** The oldest supported major version. */
const oldest = 15

/** The first candidate that is usable; fails with the reasons of all refusals. */
export const findPostgresBinaries = Effect.fn("findPostgresBinaries")(function* (
  wanted: BinariesWanted,
  user: PostgresUser
) {
  const places = placesOf(wanted.choice)
  const refusals: Array<string> = []
  for (const place of places) {
    const directories = yield* Effect.result(place.directories(user))
    if (directories._tag === "Failure") {
      refusals.push(`${place.name}: ${directories.failure.reason}`)
      continue
    }
    for (const directory of directories.success) {
      const found = yield* Effect.result(inspect(directory, wanted.major, user))
      if (found._tag === "Success") return found.success
      refusals.push(`${directory}: ${found.failure.reason}`)
    }
  }
  return yield* new PostgresBinariesMissing({ reason: `No usable Postgres was found (${refusals.join("; ")}).` })
})

/** The output of programs, by user, file and change time. A process needs it twice: for its store and its computes. */
const printed = new Map<string, string>()

const printedOnce = (key: string, run: ReturnType<typeof runProgram>) =>
  Effect.suspend(() => {
    const known = printed.get(key)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.tap(run, (text) => Effect.sync(() => printed.set(key, text)))
  })

/** Checks that the programs exist, run, and have a supported version that fits the data. */
const inspect = Effect.fnUntraced(function* (directory: string, major: number | undefined, user: PostgresUser) {
  const refuse = (reason: string) => new LocalPostgresError({ operation: `Looking at ${directory}`, reason })
  const statusOf = Effect.fnUntraced(function* (program: string) {
    const status = yield* Effect.option(attempt(program, () => stat(join(directory, program))))
    if (Option.isSome(status) && status.value.isFile()) return status.value
    return yield* refuse(`there is no ${program}`)
  })
  const { ctimeMs } = yield* statusOf("postgres")
  yield* statusOf("initdb")
  const version = yield* printedOnce(
    `${user.owner.uid} ${ctimeMs} ${directory}`,
    runProgram(join(directory, "postgres"), ["--version"], { identity: user.drops ? user.owner : undefined })
  ).pipe(Effect.mapError((error) => refuse(`uid ${user.owner.uid} cannot run it: ${error.reason}`)))
  const found = Number(/\(PostgreSQL\) (\d+)/.exec(version)?.[1])
  if (!(found >= oldest)) return yield* refuse(`it is ${version.trim()}, and ${oldest} is the oldest that works`)
  if (major !== undefined && found !== major)
    return yield* refuse(`it is version ${found}, and the data needs ${major}`)
  return { directory, major: found } satisfies PostgresBinaries
})

interface Place {
  readonly name: string
  readonly directories: (user: PostgresUser) => Effect.Effect<ReadonlyArray<string>, LocalPostgresError>
}

const system: Place = {
  name: "system",
  directories: Effect.fnUntraced(function* () {
    const configured = yield* Effect.option(printedOnce("pg_config", runProgram("pg_config", ["--bindir"])))
    const packaged = yield* Effect.option(attempt("Listing", () => readdir("/usr/lib/postgresql")))
    const newestFirst = Option.getOrElse(packaged, (): Array<string> => [])
      .filter((name) => /^\d+$/.test(name))
      .sort((a, b) => Number(b) - Number(a))
      .map((name) => `/usr/lib/postgresql/${name}/bin`)
    const all = [...Option.toArray(configured).map((text) => text.trim()), ...newestFirst]
    if (all.length > 0) return [...new Set(all)]
    return yield* new LocalPostgresError({
      operation: "Finding the system's Postgres",
      reason: "neither pg_config nor /usr/lib/postgresql exists"
    })
  })
}

const npm: Place = { name: "npm", directories: (user) => Effect.map(npmBinaries(user), (directory) => [directory]) }

const placesOf = (choice: string | undefined): ReadonlyArray<Place> => {
  if (choice === undefined) return [system, npm]
  if (choice === "system") return [system]
  if (choice === "npm") return [npm]
  return [{ name: choice, directories: () => Effect.succeed([resolve(choice)]) }]
}
