/** Attacks by creation: each call is one that the tenant may make, as fast as it is answered. */
import { call, listAt, textAt } from "../Caller.ts"
import { type Attack, pause, post } from "./Attack.ts"

const created = ["201"]

export const creations: ReadonlyArray<Attack> = [
  {
    name: "branches",
    lanes: 4,
    effective: created,
    turn: ({ project, tenant }, _lane, _round, stopped) =>
      post(tenant, `/v1/projects/${project}/branches`, { endpoint: true }, stopped)
  },
  {
    name: "sandboxes",
    lanes: 2,
    effective: created,
    turn: ({ agent, project }, _lane, _round, stopped) => post(agent, `/v1/projects/${project}/sandboxes`, {}, stopped)
  },
  {
    name: "projects",
    lanes: 2,
    effective: created,
    turn: ({ tenant }, lane, round, stopped) =>
      post(tenant, "/v1/projects", { name: `flood ${lane} ${round}` }, stopped)
  },
  {
    name: "invitations",
    lanes: 2,
    effective: created,
    turn: ({ org, tenant }, lane, round, stopped) => {
      const email = `guest-${lane}-${round}@example.com`
      return post(tenant, `/v1/orgs/${org}/invitations`, { email, role: "member" }, stopped)
    }
  },
  {
    name: "credentials",
    lanes: 2,
    effective: created,
    turn: ({ branch, project, tenant }, _lane, _round, stopped) => {
      const path = `/v1/projects/${project}/branches/${branch}/credentials`
      return post(tenant, path, { access: "read_only", ttl_seconds: 60 }, stopped)
    }
  },
  {
    name: "starts and suspends",
    lanes: 2,
    effective: ["200"],
    turn: async ({ project, tenant }, lane, _round, stopped) => {
      const path = `/v1/projects/${project}/endpoints`
      const { body, status } = await call(tenant, "GET", path)
      let last = status
      for (const endpoint of listAt(body, "endpoints").slice(0, 20)) {
        if (stopped.aborted) break
        const verb = lane === 0 ? "start" : "suspend"
        last = (await call(tenant, "POST", `${path}/${textAt(endpoint, "id")}/${verb}`)).status
      }
      await pause(100, stopped)
      return String(last)
    }
  }
]
