/** Requests the shared resources of the run, see `ResourceServer.ts`. */
import { request } from "node:http"
import { inject } from "vitest"
import { within } from "./eventually.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly resources: string
  }
}

/** Milliseconds. The first build of a clone compiles every package. */
const limit = 540_000

/** The socket of the resources, for programs that are no test run. */
export const resourcesVariable = "NARTHEX_TEST_RESOURCES"

export type ResourceName = "postgres" | "chromium" | "build" | "libraries" | "programs" | "platform"

/** The description of a shared resource, once it is ready. Rejects with the reason if it cannot be made. */
export const resource = <A>(name: ResourceName): Promise<A> =>
  within(`the shared resource "${name}"`, ask<A>(name), limit)

const ask = <A>(name: string): Promise<A> =>
  new Promise((resolve, reject) => {
    const socketPath = process.env[resourcesVariable] ?? inject("resources")
    const asked = request({ socketPath, path: `/${name}` }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        text += chunk
      })
      response.on("end", () => {
        const body = JSON.parse(text)
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(`The shared resource "${name}" is not available: ${body.reason}`))
      })
    })
    asked.on("error", reject)
    asked.end()
  })
