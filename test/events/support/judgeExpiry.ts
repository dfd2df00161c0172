/** Checks that a stream of an expiring credential got all events that it should get, and no others. */
import { eventIdFromUuid } from "@narthex/core"
import type { ApiProcess } from "./ApiProcesses.ts"
import type { Verdict } from "./judgeEnds.ts"
import { StreamClient } from "./StreamClient.ts"

export interface Connection {
  readonly client: StreamClient
  readonly server: ApiProcess
  readonly over: Promise<void>
  readonly isOver: () => boolean
}

/** A client that was connected during the rotation reconnects until every server knows of it. */
export const connect = (token: string, server: ApiProcess): Connection => {
  const client = new StreamClient("/v1/events", token, "")
  let isOver = false
  const follow = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) {
      await client.follow(server.port)
      if (client.refusals.length > 0 || client.comments.at(-1)?.includes("reason=revoked") !== true) break
    }
    isOver = true
  }
  return { client, server, over: follow(), isOver: () => isOver }
}

interface Row {
  readonly id: string
  readonly n: number | null
}

/** When it was opened: before the margin or around its beginning, within it, or after the credential's expiry. */
export type Opened = "before" | "margin" | "afterwards"

/** `last`: the number of the last event that each server may have sent. */
export const judgeExpiry = (
  log: ReadonlyArray<Row>,
  last: ReadonlyMap<ApiProcess, number>,
  { connection, way }: { readonly way: string; readonly connection: Connection },
  opened: Opened
): Verdict => {
  const { client, server } = connection
  const wrong: Array<string> = []
  const complain = (what: string) => wrong.push(`${way}, opened ${opened}: ${what}`)
  if (opened === "afterwards") {
    if (client.refusals[0] !== 401 || client.connections > 0) complain(`came back to ${client.refusals[0]}`)
    return { late: 0, wrong }
  }
  const got = client.frames.map(({ data }) => Number(data["n"]))
  const late = opened === "margin" ? got.length : got.filter((n) => n > (last.get(server) ?? 0)).length
  if (late > 0) complain(`${late} events came too late`)
  const ids = log.map(({ id }) => eventIdFromUuid(id))
  const begun = ids.indexOf(client.frames[0]?.id ?? "")
  const expected = got.length === 0 ? [] : ids.slice(begun, begun + got.length)
  if (client.frames.map(({ id }) => id).join() !== expected.join()) complain("events were left out")
  if (client.refusals.length > 0) complain(`was answered ${client.refusals[0]}`)
  else if (!client.comments.some((comment) => comment.includes("closing reason=token_expired")))
    complain(`the stream said ${client.comments.join("|")}`)
  return { late, wrong }
}
