/** Answers a request that does not decode with its problem, and an answer that does not encode with 500. */
import { InternalProblem, problemOfSchemaError, SchemaErrors } from "@narthex/api"
import { Effect, Layer } from "effect"
import { HttpApiError } from "effect/http-api"

/** The framework types the failures of handlers as unknown to middleware; a schema error is recognized by its brand. */
const answerSchemaError = <E>(error: E) => {
  const undecoded: unknown = error
  if (!HttpApiError.HttpApiSchemaError.is(undecoded)) return Effect.fail(error)
  const problem = problemOfSchemaError(undecoded)
  return Effect.flatMap(
    problem === undefined ? Effect.logError("An answer does not match its schema.", undecoded) : Effect.void,
    (): Effect.Effect<never, E | InternalProblem | NonNullable<typeof problem>> =>
      Effect.fail(problem ?? new InternalProblem({}))
  )
}

export const layerSchemaErrors = Layer.succeed(
  SchemaErrors,
  SchemaErrors.of((handler) => Effect.catch(handler, answerSchemaError))
)
