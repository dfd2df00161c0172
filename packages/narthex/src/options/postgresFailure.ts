/** Problems with a Postgres database and its URL, as errors of the host (docs/design/library.md N41). */
import { NarthexError, problemCatalog } from "@narthex/api"
import type { Unusable } from "@narthex/postgres"
import { invalidOptions } from "../failures/failures.ts"

/** The problem with a URL that shows before anything is sent, as a sentence; `undefined`: none. */
export const problemOfUrl = (option: string, url: string): string | undefined =>
  /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : `${option}: the URL is unusable. Expected postgresql://user:password@host:5432/database with one host, and with special characters of user and password percent-encoded. A Unix socket is postgresql:///database?host=/directory&user=name.`

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
