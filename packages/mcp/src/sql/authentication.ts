/** The answers of a client to the authentication of Postgres: SCRAM-SHA-256, which proves the password without sending it. */
import { randomBytes } from "node:crypto"
import { SCRAM_SHA_256, type ScramState, scramContinue, scramFinish, scramInit } from "@effect/sql-pg/PgAuth"
import { type BackendMessage, encodeSASLInitialResponse, encodeSASLResponse } from "@effect/sql-pg/PgProtocol"
import { Redacted, Result } from "effect"

const failure = "The database could not be authenticated with."

/** The bytes to send next, or why the exchange has failed. */
type Step = Result.Result<Uint8Array | undefined, string>

export class Authentication {
  readonly #password: Redacted.Redacted
  #state: ScramState | undefined
  #proved = false

  constructor(password: Redacted.Redacted) {
    this.#password = password
  }

  /** Whether the server has proved that it knows the password's verifier. */
  get proved(): boolean {
    return this.#proved
  }

  /** `undefined`: the message is not one of the authentication. */
  take(message: BackendMessage): Step | undefined {
    switch (message._tag) {
      case "AuthenticationSASL": {
        if (!message.mechanisms.includes(SCRAM_SHA_256)) return Result.fail(failure)
        const nonce = randomBytes(18).toString("base64")
        return this.#next(scramInit({ password: Redacted.value(this.#password), nonce }), (initialResponse) =>
          encodeSASLInitialResponse({ mechanism: SCRAM_SHA_256, initialResponse })
        )
      }
      case "AuthenticationSASLContinue":
        if (this.#state?._tag !== "ScramFirst") return Result.fail(failure)
        return this.#next(scramContinue(this.#state, message.data), (data) => encodeSASLResponse({ data }))
      case "AuthenticationSASLFinal": {
        if (this.#state?._tag !== "ScramFinal") return Result.fail(failure)
        this.#proved = Result.isSuccess(scramFinish(this.#state, message.data))
        return this.#proved ? Result.succeed(undefined) : Result.fail(failure)
      }
      // A server that asks for the password itself could be anyone.
      case "AuthenticationCleartextPassword":
      case "AuthenticationMD5Password":
      case "AuthenticationUnsupported":
        return Result.fail(failure)
      default:
        return undefined
    }
  }

  #next(
    step: Result.Result<{ readonly state: ScramState; readonly response: Uint8Array }, unknown>,
    encode: (response: Uint8Array) => Uint8Array
  ): Step {
    if (Result.isFailure(step)) return Result.fail(failure)
    this.#state = step.success.state
    return Result.succeed(encode(step.success.response))
  }
}
