/**
 * A service on Express with the control plane beside its own endpoints. People of the service have their organizations,
 * projects and API keys there; the service's own endpoint asks who calls and what they may do.
 */
import express, { type ErrorRequestHandler, type Express } from "express"
import { type ControlPlane, isNarthexError } from "narthex"

/** Answers a refusal of the control plane as the API does: a problem (RFC 9457). */
const refused: ErrorRequestHandler = (error, _request, response, next) => {
  if (!isNarthexError(error) || error.status === 0) return next(error)
  const { code, detail, status, title } = error
  response.status(status).type("application/problem+json").send(JSON.stringify({ status, code, title, detail }))
}

export const makeApp = (cp: ControlPlane): Express => {
  const app = express()

  // The whole API: paths that are not its own go on to the service.
  app.use(cp.node)

  app.get("/reports/:project_id", async (request, response) => {
    const caller = await cp.authenticate(request.get("authorization"))
    await caller.require("read", { project_id: request.params.project_id })
    if (!(await cp.ipAllowlist.permits(request.params.project_id, request.socket.remoteAddress ?? ""))) {
      response.status(403).send({ detail: "This network is not on the project's allowlist." })
      return
    }
    response.send({ report: "…", for: caller.user.email })
  })

  app.use(refused)
  return app
}
