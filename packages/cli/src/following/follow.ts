/**
 * `--wait` and `--timeout` (docs/design/cli.md C25): after the answer is printed, the command waits until its operations
 * are over. Interrupting it ends the waiting alone; the operations continue on the server.
 */
import type { OperationRecord } from "@narthex/api"
import { Clock, Duration, Effect, Schema } from "effect"
import { Flag } from "effect/cli"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { durationFlag } from "../input/flags.ts"
import { Output } from "../output/Output.ts"

export type Operation = typeof OperationRecord.Type

export interface Waiting {
  readonly wait: boolean
  /** Seconds. */
  readonly timeout: number
}

/** The final statuses that are a success. */
const succeeded: ReadonlyArray<string> = ["finished", "skipped"]

const TimeoutSeconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 604_800 }))

export const timeoutFlag = durationFlag("timeout", TimeoutSeconds).pipe(
  Flag.withDescription("How long to wait. Default: 5m"),
  Flag.withDefault(300)
)

export const waitFlags = {
  wait: Flag.Boolean("wait").pipe(
    Flag.withAlias("w"),
    Flag.withoutNegation,
    Flag.withDescription("Wait until it is done"),
    Flag.withDefault(false)
  ),
  timeout: timeoutFlag
}

/** Waits with `--wait`; without it, says how to follow the operations. No operations: there is nothing to wait for. */
export const follow = Effect.fn("follow")(function* (
  api: AuthenticatedApi,
  operations: ReadonlyArray<Operation>,
  { timeout, wait }: Waiting,
  wanted = succeeded
) {
  if (wait && operations.length > 0) return yield* watch(api, operations, timeout, wanted)
  const output = yield* Output
  if (operations.some(({ finished_at }) => finished_at === null)) yield* output.note(howToFollow(operations))
})

const howToFollow = (operations: ReadonlyArray<Operation>): string => {
  const ids = operations.map(({ id }) => id).join(" ")
  return `To follow: narthex operation watch ${ids} --project ${operations[0]?.project_id}`
}

/** Waits for all operations, one after another. Fails unless each of them has succeeded in time. */
export const watch = Effect.fn("watch")(function* (
  { client }: AuthenticatedApi,
  operations: ReadonlyArray<Operation>,
  timeout: number,
  wanted = succeeded
) {
  const output = yield* Output
  const begun = yield* Clock.currentTimeMillis
  const ended: Array<Operation> = []
  let current = operations[0]
  const progress = (elapsed: number) => {
    const step = `step ${Math.min(ended.length + 1, operations.length)} of ${operations.length}`
    return {
      what: current === undefined ? "Waiting" : described(current),
      more: ["", ...(operations.length > 1 ? [step] : []), seconds(elapsed)].join(" · ")
    }
  }
  const each = Effect.forEach(
    operations,
    Effect.fnUntraced(function* (operation) {
      const left = timeout * 1000 - ((yield* Clock.currentTimeMillis) - begun)
      const final = yield* client.waitFor(operation, {
        timeout: Duration.millis(Math.max(left, 1)),
        onRead: (read) => {
          current = read
        }
      })
      ended.push(final)
    }),
    { discard: true }
  )
  yield* output.waiting(progress, each).pipe(
    Effect.catchTag("OperationPending", ({ message }) =>
      Effect.fail(new Stopped({ message, hint: howToFollow(operations) }))
    ),
    Effect.onInterrupt(() => output.note(`The work continues on the server. ${howToFollow(operations)}`))
  )
  const failed = ended.find(({ status }) => !wanted.includes(status))
  if (failed !== undefined)
    return yield* new Stopped({
      message: `${described(failed)}.`,
      hint: `narthex operation get ${failed.id} --project ${failed.project_id}`
    })
  yield* output.note(`Done after ${seconds((yield* Clock.currentTimeMillis) - begun)}.`)
})

/** An action in words. */
export const inWords = (action: string): string => action.replaceAll("_", " ")

const described = ({ action, error, status }: Operation): string =>
  `${inWords(action)} ${status}${error === null ? "" : `: ${error.replace(/\.$/, "")}`}`

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
