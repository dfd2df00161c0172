/** A signed-in browser with a project. */
import { Effect } from "effect"
import { Api } from "./Api.ts"
import { browserOf } from "./signedIn.ts"

export const go = <A>(run: () => Promise<A>) => Effect.promise(run)

export const withProject = Effect.fnUntraced(function* (email: string) {
  const api = yield* Api
  const founder = yield* go(async () => api.team(await api.person(`founder-of-${email}`, "Grace Hopper"), "Engines"))
  const owner = yield* go(async () => api.join(founder, await api.person(email), "owner"))
  const signedIn = yield* browserOf(owner)
  // Another person makes it, whose name the pages ask for.
  const project = yield* go(() => api.project(founder, "storefront"))
  const here = `${signedIn.home}/projects/${project.id}`
  const project_id = project.id
  const { client } = owner
  return {
    ...signedIn,
    api,
    project,
    here,
    branches: go(async () => (await client.branches.list({ project_id })).branches.filter((it) => !it.default)),
    endpoints: go(async () =>
      (await client.endpoints.list({ project_id })).endpoints.filter(({ id }) => id !== project.endpoint_id)
    ),
    rules: go(async () => (await client.ipAllow.list({ project_id })).rules),
    /** Waits until every operation of the project has ended. */
    settled: go(async () => {
      const { operations } = await client.operations.list({ project_id })
      for (const operation of operations) await api.product.operations.waitFor(operation)
    }),
    /** The body of the last call of the API below the project. */
    sent: (method: string, path: string) => api.sent(method, `/v1/projects/${project.id}${path}`),
    /** Makes the person a viewer, who only reads. */
    demote: go(() => founder.client.orgs.changeMember({ org_id: owner.org, user_id: owner.id, role: "viewer" })),
    post: (path: string, fields: Readonly<Record<string, string>>) =>
      go(() => signedIn.browser.post(`${here}${path}`, fields)),
    open: (path = "") => go(() => signedIn.browser.open(`${here}${path}`))
  }
})
