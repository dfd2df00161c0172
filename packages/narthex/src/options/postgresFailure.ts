/** What is wrong with the URL of a Postgres database, as an error of the host (docs/design/library.md N41). */
import { NarthexError, problemCatalog } from "@narthex/api"
import type { Unusable } from "@narthex/postgres"
import { invalidOptions } from "../failures/failures.ts"

/** What has to be corrected in a URL before anything is sent, as a sentence; `undefined`: nothing that is seen. */
export const problemOfUrl = (option: string, url: string): string | undefined =>
  /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : `${option}: the URL is unusable. Expected postgresql://user:password@host:5432/database with one host, and with special characters of user and password percent-encoded. A Unix socket is postgresql:///database?host=/directory&user=name.`

/** What has to be corrected is `invalid_options`; what may pass is `unavailable`. */
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
