/**
 * The messages of a compute between AuthenticationOk and its first ReadyForQuery, for the client. The cancel key is one
 * of the proxy in place of the compute's, because a cancel request may reach any proxy.
 */
import { randomBytes } from "node:crypto"
import { backendKeyData, type Message, typeOf } from "../wire/messages.ts"
import type { Greeted } from "./dial.ts"

const [keyData, ready] = [typeOf("K"), typeOf("Z")]
/** A process id and a secret. */
const keyBytes = 8

export class Greeting {
  readonly #parts: Array<Buffer>
  #keys: Greeted["keys"]

  /** `before` precedes what the compute says. */
  constructor(...before: ReadonlyArray<Buffer>) {
    this.#parts = [...before]
  }

  /** Takes a message; the whole at ReadyForQuery. */
  take({ body, type, whole }: Message): Greeted | undefined {
    if (type === keyData) {
      const client = randomBytes(keyBytes)
      this.#keys = { client, compute: Buffer.from(body) }
      this.#parts.push(backendKeyData(client))
      return undefined
    }
    this.#parts.push(whole)
    return type === ready ? { greeting: Buffer.concat(this.#parts), keys: this.#keys } : undefined
  }
}
