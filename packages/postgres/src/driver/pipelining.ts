/**
 * Reads that share a connection. Statements of one turn are sent in one write, the server answers in the same order,
 * and each statement is a transaction of its own, with its own snapshot.
 *
 * A shared statement is not cancelled on the server when its caller is interrupted, because the cancellation could hit
 * another caller's statement. So pipelines are for statements that end by themselves: reads of a few rows by index,
 * without a row lock. If an operator has locked a table, all statements behind the waiting one are late. So each
 * pipeline is for reads of the same tables, which would all wait.
 *
 * Pitfall: leaving a silent connection to the driver. It cancels nothing there, so all later reads would wait behind the
 * one that got no answer. The connection is given up with the first read that is over its limit.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Effect } from "effect"
import { type Ask, limited } from "./Attempt.ts"

/** Pipelines by subject. Each has one connection, which is open while it is used. */
const pipelines = ["keys", "sessions", "projects", "events"] as const
export type Pipeline = (typeof pipelines)[number]

/** A bound above any number of waiting reads. The driver sends at most 128 of them ahead of their answers. */
const most = 10_000

type Options = Omit<PgPool.Config, "multiplex" | "multiplexConcurrency" | "maxConnections">

const pipelined = (options: Options) =>
  Effect.map(
    PgPool.make({ ...options, maxConnections: 1, multiplex: true, multiplexConcurrency: most }),
    ({ invalidate, use }): Ask =>
      (text, params) =>
        Effect.suspend(() => {
          let lent: PgConnection | undefined
          const answer = use((connection) => {
            lent = connection
            return connection.query(text, params)
          })
          return Effect.tapErrorTag(limited(answer), "NotDone", () =>
            lent === undefined ? Effect.void : invalidate(lent)
          )
        })
  )

export const pipelining = (options: Options) =>
  Effect.map(
    Effect.forEach(pipelines, (pipeline) => Effect.map(pipelined(options), (ask) => [pipeline, ask] as const)),
    (made): ReadonlyMap<Pipeline, Ask> => new Map(made)
  )
