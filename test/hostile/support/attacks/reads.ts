/** Attacks by reading: long lists, long polls, streams that nothing reads. */
import { get } from "node:http"
import { call, listAt, textAt } from "../Caller.ts"
import { type Attack, hold, pause } from "./Attack.ts"

export const reads: ReadonlyArray<Attack> = [
  {
    name: "long lists",
    lanes: 4,
    effective: ["200"],
    turn: async ({ org, tenant }, _lane, _round, stopped) => {
      const { status } = await call(tenant, "GET", `/v1/orgs/${org}/invitations?limit=1000`)
      if (status !== 200) await pause(50, stopped)
      return String(status)
    }
  },
  {
    name: "long polls",
    lanes: 200,
    effective: ["200"],
    turn: async ({ project, tenant }, _lane, _round, stopped) => {
      const path = `/v1/projects/${project}/operations`
      const [operation] = listAt((await call(tenant, "GET", `${path}?limit=1`)).body, "operations")
      if (operation === undefined) {
        await pause(500, stopped)
        return "none"
      }
      const { status } = await call(tenant, "GET", `${path}/${textAt(operation, "id")}?wait=5s`)
      await pause(status === 200 ? 100 : 1_000, stopped)
      return String(status)
    }
  },
  {
    name: "streams that read nothing",
    lanes: 20,
    effective: ["200"],
    turn: ({ tenant }, _lane, _round, stopped) =>
      new Promise((done) => {
        const headers = { authorization: `Bearer ${tenant.token}`, accept: "text/event-stream" }
        const asked = get(new URL("/v1/events", tenant.api), { localAddress: tenant.from, headers }, (response) => {
          response.on("error", () => undefined)
          pause(hold, stopped).then(() => {
            response.destroy()
            done(String(response.statusCode))
          })
        })
        asked.on("error", () => pause(200, stopped).then(() => done("closed")))
      })
  }
]
