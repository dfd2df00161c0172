/** The stable code with which a call rejects; another failure as it is, and `undefined` if the call succeeds. */
import { isNarthexError } from "../../src/index.ts"

export const codeOf = async (call: Promise<unknown>) => {
  const failure: unknown = await call.then(
    () => undefined,
    (error: unknown) => error
  )
  return isNarthexError(failure) ? failure.code : failure
}
