/** Statuses of answers that are not 200. */
import type { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

export const created = <S extends Schema.Top>(answer: S) => answer.pipe(HttpApiSchema.status(201))

export const accepted = <S extends Schema.Top>(answer: S) => answer.pipe(HttpApiSchema.status(202))
