/**
 * Runs one statement in a session of its own, with limits of time, rows and bytes.
 *
 * The extended protocol takes one command per statement, so a text with several is refused by Postgres itself. `Execute`
 * asks for one row more than the limit: a query stops there, and a statement that writes is complete all the same.
 *
 * Pitfall: cutting the rows by a cancel request. It would undo what the statement has written.
 */
import type { Duplex } from "node:stream"
import {
  type BackendMessage,
  encodeCancelRequest,
  encodeDescribe,
  encodeExecute,
  encodeParse,
  encodeStartupMessage,
  encodeSync,
  encodeTerminate,
  makeParser
} from "@effect/sql-pg/PgProtocol"
import { Effect, Result } from "effect"
import { Answer, refusalOf } from "./Answer.ts"
import { Authentication } from "./authentication.ts"
import { type Dial, open } from "./dial.ts"
import { encodeBind } from "./encodeBind.ts"
import { ConnectionLost, type Outcome, type SqlRefused, type Statement, StatementTimeout } from "./statement.ts"
import type { Target } from "./Target.ts"

/** A larger message of the server, which is a larger row, ends the connection. */
const maxMessageSize = 4 * 1024 * 1024

/** How long a cancel request, and the end of a connection, may take, in milliseconds. */
const cancelWithin = 5_000
const closeWithin = 1_000

type Done = (exit: Effect.Effect<Outcome, SqlRefused | ConnectionLost>) => void

const startup = ({ database, options, user }: Target, timeout: number) =>
  encodeStartupMessage({
    user,
    database,
    options,
    application_name: "narthex mcp",
    statement_timeout: String(timeout),
    DateStyle: "ISO",
    IntervalStyle: "iso_8601"
  })

class Exchange {
  readonly #target: Target
  readonly #dial: Dial
  readonly #statement: Statement
  readonly #timeout: number
  readonly #done: Done
  readonly #answer: Answer
  readonly #authentication: Authentication
  readonly #parser = makeParser({ maxMessageSize })
  #socket: Duplex | undefined
  #connection: { readonly destroy: () => void } | undefined
  #key: { readonly pid: number; readonly secret: number } | undefined
  #phase: "opening" | "running" | "over" = "opening"
  #refusal: SqlRefused | undefined

  constructor(target: Target, dial: Dial, statement: Statement, timeout: number, done: Done) {
    this.#target = target
    this.#dial = dial
    this.#statement = statement
    this.#timeout = timeout
    this.#done = done
    this.#answer = new Answer(statement)
    this.#authentication = new Authentication(target.password)
  }

  begin(): void {
    this.#connection = open(
      this.#target,
      this.#dial,
      (socket) => {
        this.#socket = socket
        socket.on("data", (bytes: Uint8Array) => this.#read(bytes))
        socket.write(startup(this.#target, this.#timeout))
      },
      (reason) => this.#fail(reason)
    )
  }

  /** Ends the statement on the server, and the connection. */
  abort(): void {
    if (this.#phase === "running" && this.#key !== undefined) cancel(this.#target, this.#dial, this.#key)
    this.#phase = "over"
    this.#connection?.destroy()
  }

  #read(bytes: Uint8Array): void {
    try {
      this.#parser.pushEach(bytes, (message) => this.#take(message))
    } catch {
      this.#fail(
        `The database sent a row of more than ${maxMessageSize} bytes. Select fewer columns, or parts of them.`
      )
    }
  }

  #take(message: BackendMessage): void {
    if (this.#phase === "over") return
    if (this.#phase === "opening") this.#open(message)
    else this.#run(message)
  }

  #open(message: BackendMessage): void {
    const step = this.#authentication.take(message)
    if (step !== undefined) {
      if (Result.isFailure(step)) this.#fail(step.failure)
      else if (step.success !== undefined) this.#socket?.write(step.success)
      return
    }
    if (message._tag === "BackendKeyData") this.#key = { pid: message.pid, secret: message.secret }
    if (message._tag === "ErrorResponse") this.#finish(Effect.fail(refusalOf(message.fields, true)))
    if (message._tag !== "ReadyForQuery") return
    if (!this.#authentication.proved) this.#fail("The database did not prove its identity.")
    else this.#send()
  }

  #send(): void {
    const { limit, parameters = [], sql } = this.#statement
    const parse = encodeParse({ name: "", query: sql, parameterTypes: [] })
    if (Result.isFailure(parse)) {
      this.#fail("The statement cannot be sent.")
      return
    }
    this.#phase = "running"
    const rest = [
      encodeBind(parameters),
      encodeDescribe({ target: "portal", name: "" }),
      encodeExecute({ portal: "", maxRows: limit + 1 }),
      encodeSync()
    ]
    this.#socket?.write(Buffer.concat([parse.success, ...rest]))
  }

  #run(message: BackendMessage): void {
    switch (message._tag) {
      case "RowDescription":
        this.#answer.describe(message)
        break
      case "DataRow":
        this.#answer.add(message)
        break
      case "CommandComplete":
        this.#answer.command = message.commandTag
        break
      case "ErrorResponse":
        this.#refusal ??= refusalOf(message.fields, false)
        break
      case "CopyInResponse":
      case "CopyOutResponse":
      case "CopyBothResponse":
        this.#fail("COPY is not possible here. Use SELECT or INSERT.")
        break
      case "ReadyForQuery":
        this.#finish(this.#refusal === undefined ? Effect.succeed(this.#answer.outcome) : Effect.fail(this.#refusal))
        break
      default:
    }
  }

  #fail(reason: string): void {
    // A server that ends the connection says why first.
    this.#finish(Effect.fail(this.#refusal ?? new ConnectionLost({ reason })))
  }

  #finish(exit: Parameters<Done>[0]): void {
    if (this.#phase === "over") return
    this.#phase = "over"
    this.#socket?.end(encodeTerminate())
    setTimeout(() => this.#connection?.destroy(), closeWithin).unref()
    this.#done(exit)
  }
}

/** Asks the server to end the running statement. Best effort: its time limit ends it in any case. */
const cancel = (target: Target, dial: Dial, key: { readonly pid: number; readonly secret: number }): void => {
  const connection = open(
    target,
    dial,
    (socket) => {
      socket.resume()
      socket.write(encodeCancelRequest(key))
    },
    () => clearTimeout(timer)
  )
  const timer = setTimeout(() => connection.destroy(), cancelWithin)
  timer.unref()
}

/** Interruption ends the statement on the server too. */
export const runStatement = (
  target: Target,
  dial: Dial,
  statement: Statement
): Effect.Effect<Outcome, SqlRefused | ConnectionLost> =>
  Effect.flatMap(StatementTimeout, (timeout) =>
    Effect.callback((resume) => {
      const exchange = new Exchange(target, dial, statement, timeout, resume)
      exchange.begin()
      return Effect.sync(() => exchange.abort())
    })
  )
