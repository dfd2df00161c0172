/** Warnings about variables of the environment that look like settings and are none (docs/design/settings.md S3). */
import { ConfigProvider, Effect } from "effect"
import { goneVariables } from "./goneVariables.ts"
import { type Table, variablesOf } from "./Variable.ts"

/** The variables of the command line, which may be in the same environment. */
const others = [
  "NARTHEX_URL",
  "NARTHEX_API_KEY",
  "NARTHEX_API_KEY_FILE",
  "NARTHEX_CONTEXT",
  "NARTHEX_PROJECT",
  "NARTHEX_NO_UPDATE_NOTIFIER"
]

/** The names of the variables that begin with a path. A variable that is empty counts as not set. */
const namesUnder = (
  provider: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, ConfigProvider.SourceError> =>
  Effect.gen(function* () {
    const node = yield* provider.load([...path])
    if (node === undefined) return []
    const own = node.value === undefined ? [] : [path.join("_")]
    if (node._tag !== "Record") return own
    const deeper = yield* Effect.forEach([...node.keys].sort(), (key) => namesUnder(provider, [...path, key]))
    return [...own, ...deeper.flat()]
  })

/** How many characters have to be added, removed or replaced to make one text of the other. */
const distance = (one: string, other: string): number => {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (const [row, character] of [...one].entries()) {
    const line = [row + 1]
    for (let column = 0; column < other.length; column++) {
      const replaced = (above[column] ?? 0) + (character === other[column] ? 0 : 1)
      line.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1))
    }
    above = line
  }
  return above.at(-1) ?? 0
}

/** The known name that a typing error made into this one, if there is one. */
const meant = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const near = known.map((candidate) => ({ candidate, away: distance(name, candidate) }))
  const [nearest] = near.filter(({ away }) => away <= 2).sort((one, other) => one.away - other.away)
  return nearest?.candidate
}

const warning = (name: string, known: ReadonlyArray<string>): string => {
  const now = goneVariables.get(name)
  if (now !== undefined) return `${name} is gone: ${now}`
  const near = meant(name, known)
  return `There is no setting ${name}.${near === undefined ? "" : ` The nearest name is ${near}.`}`
}

/** A sentence for each variable `NARTHEX_…` of the environment that is neither in the table nor of another program. */
export const unknownVariables = Effect.fn("unknownVariables")(function* (table: Table) {
  const settings = variablesOf(table).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]))
  const known = new Set([...settings, ...others])
  const names = yield* namesUnder(yield* ConfigProvider.ConfigProvider, ["NARTHEX"])
  return names
    .filter((name) => !known.has(name) && !name.startsWith("NARTHEX_TEST_"))
    .map((name) => warning(name, settings))
})
