/** The address of the browser behind a request, read as the API reads those of its clients (docs/design/console.md W10). */
import { clientAddress } from "@narthex/api"
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/** `null` when none can be read. */
export const visitorAddress = (
  { headers, remoteAddress }: HttpServerRequest.HttpServerRequest,
  trustedHops: number
): string | null => clientAddress(Option.getOrUndefined(remoteAddress), headers["x-forwarded-for"], trustedHops)
