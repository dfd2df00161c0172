/** The whole API as a route handler: `/api/v1/…`. */
import { controlPlane } from "../../../controlPlane.ts"

const answer = async (request: Request): Promise<Response> => (await controlPlane()).fetch(request)

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT
}

/** Event streams are never rendered ahead. */
export const dynamic = "force-dynamic"
