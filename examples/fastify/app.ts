/**
 * A service on Fastify with the control plane and endpoints of its own: its people have their projects and API keys there,
 * and the service asks who calls and what they may do.
 */
import Fastify, { type FastifyInstance } from "fastify"
import { type ControlPlane, isNarthexError } from "narthex"

export const makeApp = (cp: ControlPlane): FastifyInstance => {
  const app = Fastify()

  // The whole API: paths that are not its own go on to the service.
  // Pitfall: a route with `reply.hijack()`. Fastify reads a body before its route, and leaves nothing of it to the API.
  app.addHook("onRequest", (request, reply, done) => cp.node(request.raw, reply.raw, () => done()))

  app.get<{ Params: { project_id: string } }>("/reports/:project_id", async (request) => {
    const caller = await cp.authenticate(request.headers.authorization)
    await caller.require("read", { project_id: request.params.project_id })
    return { report: "…", for: caller.user.email }
  })

  app.post<{ Body: { text: string } }>("/notes", async (request) => ({ noted: request.body.text }))

  // A refusal of the control plane, answered as the API does: a problem (RFC 9457).
  app.setErrorHandler((error, _request, reply) => {
    if (!isNarthexError(error) || error.status === 0) throw error
    const { code, detail, status, title } = error
    return reply.code(status).type("application/problem+json").send(JSON.stringify({ status, code, title, detail }))
  })

  return app
}
