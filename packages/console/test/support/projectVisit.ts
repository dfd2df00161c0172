/** A signed-in browser with a project of the double. */
import { Effect } from "effect"
import { ApiDouble } from "./ApiDouble.ts"
import { signedInAs } from "./signedIn.ts"

export const go = <A>(run: () => Promise<A>) => Effect.promise(run)

export const withProject = Effect.fnUntraced(function* (email: string) {
  const { last, state } = yield* ApiDouble
  const signedIn = yield* signedInAs(email)
  const project = state.addProject(signedIn.org, "storefront")
  const here = `${signedIn.home}/projects/${project.id}`
  return {
    ...signedIn,
    project,
    here,
    /** The body of the last call of the API below the project. */
    sent: (method: string, path: string) => last(method, `/v1/projects/${project.id}${path}`)?.body,
    /** Makes the person a viewer, who only reads. */
    demote: Effect.sync(() => state.orgs.get(signedIn.org)?.members.set(signedIn.person.id, "viewer")),
    post: (path: string, fields: Readonly<Record<string, string>>) =>
      go(() => signedIn.browser.post(`${here}${path}`, fields)),
    open: (path = "") => go(() => signedIn.browser.open(`${here}${path}`))
  }
})
