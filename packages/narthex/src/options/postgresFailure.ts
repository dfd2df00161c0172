/** Problems with a Postgres database and its URL, as errors of the host (docs/design/library.md N41). */
import { NarthexError, problemCatalog } from "@narthex/api"
import type { Unusable } from "@narthex/postgres"
import { invalidOptions } from "../failures/failures.ts"

/** A problem that the host has to correct is `invalid_options`; a problem that may pass is `unavailable`. */
export const postgresFailure = ({ cause, correct, sentence }: Unusable): NarthexError => {
  if (correct) return invalidOptions(sentence, cause)
  const { status, title } = problemCatalog.unavailable
  return new NarthexError({
    code: "unavailable",
    status,
    title,
    detail: sentence,
    ...(cause === undefined ? {} : { cause })
  })
}
