/** A service on Hono: the control plane below `/control`, and an endpoint of its own. It runs wherever Hono runs. */
import { Hono } from "hono"
import { type ControlPlane, isNarthexError } from "narthex"

/** `cp` has the option `basePath: "/control"`. */
export const makeApp = (cp: ControlPlane): Hono => {
  const app = new Hono()
  app.all("/control/*", (context) => cp.fetch(context.req.raw))
  app.get("/projects/:project_id/usage", async (context) => {
    const caller = await cp.authenticate(context.req.header("authorization") ?? "")
    await caller.require("read", { project_id: context.req.param("project_id") })
    return context.json({ rows: 42, organization: caller.organization.name })
  })
  app.onError((error) => {
    if (!isNarthexError(error) || error.status === 0) throw error
    const { code, detail, status, title } = error
    return Response.json({ status, code, title, detail }, { status })
  })
  return app
}
