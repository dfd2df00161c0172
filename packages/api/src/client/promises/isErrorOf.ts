/** Narrows a rejection of a call to the codes that the contract declares for it. */
import { NarthexError } from "../../problems/NarthexError.ts"

/**
 * Whether the call can reject with this error. Errors with a code of a newer server are not among them.
 *
 * @example
 * import { createClient, isErrorOf } from "@narthex/api"
 * const client = createClient({ baseUrl: "https://api.example.com", credential: "nsk_…" })
 * await client.projects.create({ name: "shop" }).catch((error: unknown) => {
 *   if (!isErrorOf(client.projects.create, error) || error.code !== "region_required") throw error
 *   return client.projects.create({ name: "shop", region: "eu-1" })
 * })
 */
export const isErrorOf = <Code extends string>(
  method: { readonly codes: ReadonlySet<Code> },
  error: unknown
): error is NarthexError<Code> => error instanceof NarthexError && (method.codes as ReadonlySet<string>).has(error.code)
