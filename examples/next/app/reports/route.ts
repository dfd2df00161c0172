/** A route handler of the application that API keys and sessions may call. */
import { isNarthexError } from "narthex"
import { controlPlane } from "../../controlPlane.ts"

export const GET = async (request: Request): Promise<Response> => {
  const cp = await controlPlane()
  try {
    const caller = await cp.authenticate(request.headers.get("authorization") ?? "")
    await caller.require("read")
    return Response.json({ report: "…", organization: caller.organization.name })
  } catch (error) {
    if (!isNarthexError(error) || error.status === 0) throw error
    return Response.json({ code: error.code, detail: error.detail }, { status: error.status })
  }
}
