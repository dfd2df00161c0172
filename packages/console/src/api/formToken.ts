/**
 * Form tokens: a form that is sent twice takes effect once (docs/design/console.md W15).
 *
 * Each rendering of a form contains a token, which the console forwards as `Idempotency-Key`.
 */
import { randomUUID } from "node:crypto"
import { ClientHeaders } from "@narthex/api"
import { Effect } from "effect"
import type { Form } from "../web/Form.ts"

/** A token for one rendering of a form. */
export const newFormToken = (): string => `form-${randomUUID()}`

const formToken = /^form-[0-9a-f-]{36}$/

/**
 * Runs the call with the form's token as its idempotency key. A token in another form than the console's is ignored.
 */
export const callOnce =
  (form: Form) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const token = form.text("form_token")
    return formToken.test(token)
      ? Effect.updateService(call, ClientHeaders, (headers) => ({ ...headers, "idempotency-key": token }))
      : call
  }
