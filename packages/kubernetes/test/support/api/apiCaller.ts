/** Another client of the double than the driver: plain requests. */

import type { IncomingMessage } from "node:http"
import { Agent, request } from "node:https"
import { createInterface } from "node:readline"
import type { Fields, Json } from "./json.ts"
import { isFields } from "./json.ts"

export interface Access {
  readonly url: string
  readonly ca: string
  readonly token: string
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: Fields
  readonly type?: string
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: Fields
  readonly text: string
}

const sent = ({ ca, token, url }: Access, { body, method, path, type = "application/json" }: Asked, agent: Agent) => {
  const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>()
  const text = body === undefined ? "" : JSON.stringify(body)
  const headers = {
    ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    ...(text === "" ? {} : { "content-type": type, "content-length": Buffer.byteLength(text) })
  }
  request(url + path, { method, ca, agent, headers }, resolve)
    .on("error", reject)
    .end(text)
  return promise
}

export const merge = "application/merge-patch+json"
export const apply = "application/apply-patch+yaml"

export const apiCaller = (access: Access) => {
  const agent = new Agent({ keepAlive: false })
  const call = async (method: string, path: string, body?: Fields, type?: string): Promise<Answered> => {
    const asked = { method, path, ...(body === undefined ? {} : { body }), ...(type === undefined ? {} : { type }) }
    const response = await sent(access, asked, agent)
    let text = ""
    for await (const chunk of response) text += String(chunk)
    const parsed: Json = response.headers["content-type"] === "application/json" ? JSON.parse(text) : {}
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: isFields(parsed) ? parsed : {},
      text
    }
  }
  /** Collects the events of a watch until it ends, or `enough` says so. */
  const watch = async (
    path: string,
    enough: (events: ReadonlyArray<Fields>) => boolean
  ): Promise<ReadonlyArray<Fields>> => {
    const response = await sent(access, { method: "GET", path }, agent)
    const events: Array<Fields> = []
    for await (const line of createInterface({ input: response })) {
      const event: Json = JSON.parse(line)
      if (isFields(event)) events.push(event)
      if (enough(events)) break
    }
    response.destroy()
    return events
  }
  return { call, watch }
}
