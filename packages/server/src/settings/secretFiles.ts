/** The files that hold secrets of the settings, with the variables that name them. */
import { Config, Effect, Option } from "effect"
import { variablesOf } from "./Variable.ts"
import { variables } from "./variables.ts"

export interface SecretFile {
  readonly variable: string
  readonly path: string
}

/** In the order of the table. A variable that cannot be read names none. */
export const secretFiles: Effect.Effect<ReadonlyArray<SecretFile>> = Effect.gen(function* () {
  const found: Array<SecretFile> = []
  for (const { name, secret } of variablesOf(variables)) {
    if (!secret) continue
    const variable = `${name}_FILE`
    const path = yield* Effect.orElseSucceed(Config.option(Config.String(variable)), () => Option.none<string>())
    if (Option.isSome(path) && path.value !== "") found.push({ variable, path: path.value })
  }
  return found
})
