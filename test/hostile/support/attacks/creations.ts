/** Attacks by creation: each call is one that the tenant may make, as fast as it is answered. */
import { call, listAt, textAt } from "../Caller.ts"
import { type Attack, otherOf, pause, post } from "./Attack.ts"

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
    lanes: 50,
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
      const statuses = [status]
      for (const endpoint of listAt(body, "endpoints").slice(0, 20)) {
        if (stopped.aborted) break
        const verb = lane === 0 ? "start" : "suspend"
        statuses.push((await call(tenant, "POST", `${path}/${textAt(endpoint, "id")}/${verb}`)).status)
      }
      await pause(100, stopped)
      // The limit of calls ends most turns; what counts is that some were not refused.
      return String(statuses.slice(1).find((each) => each === 200) ?? statuses.at(-1))
    }
  },
  {
    name: "alternating starts and suspends of one endpoint",
    lanes: 50,
    effective: ["200"],
    turn: ({ endpoint, project, tenant }, lane, round, stopped) => {
      const verb = (lane + round) % 2 === 0 ? "start" : "suspend"
      return post(tenant, `/v1/projects/${project}/endpoints/${endpoint}/${verb}`, undefined, stopped)
    }
  },
  {
    name: "networks that are listed and removed",
    lanes: 4,
    effective: ["204"],
    turn: async ({ project, tenant }, lane, round, stopped) => {
      const list = `/v1/projects/${project}/ip-allow`
      const network = `10.${lane}.${Math.floor(round / 256) % 256}.${round % 256}`
      const added = await post(tenant, list, { cidr: `${network}/32` }, stopped)
      if (added !== "201") return added
      return String((await call(tenant, "DELETE", `${list}/${network}%2F32`)).status)
    }
  },
  {
    name: "branches in other organizations",
    lanes: 8,
    effective: created,
    turn: (means, lane, _round, stopped) => {
      const { project, tenant } = otherOf(means, lane)
      return post(tenant, `/v1/projects/${project}/branches`, { endpoint: true }, stopped)
    }
  },
  {
    name: "starts and suspends in other organizations",
    lanes: 8,
    effective: ["200"],
    turn: (means, lane, round, stopped) => {
      const { endpoint, project, tenant } = otherOf(means, lane)
      const verb = round % 2 === 0 ? "suspend" : "start"
      return post(tenant, `/v1/projects/${project}/endpoints/${endpoint}/${verb}`, undefined, stopped)
    }
  }
]
