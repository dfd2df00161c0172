/** The caller of a tool: its client of the API, and how its connections to databases are made. */
import type { NarthexCalls } from "@narthex/api"
import { Context } from "effect"
import type { Dial } from "../sql/dial.ts"

/** @effect-leakable-service */
export class Caller extends Context.Service<
  Caller,
  {
    /** Sends the caller's credential with each call. */
    readonly client: NarthexCalls
    /** Equal for calls with the same credential, and says nothing about it. */
    readonly id: string
    /** The key in words: its name, id and capability. */
    readonly key: string
    readonly dial: Dial
  }
>()("@narthex/mcp/access/Caller") {}
