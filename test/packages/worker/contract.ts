/** The contract of the API and its problems, for a worker that describes or checks calls. */
import { Api, problemCatalog } from "@narthex/api"
import { OpenApi } from "effect/http-api"

/** The contract's description of itself. */
export const run = async () => ({
  problem: problemCatalog.region_required.status,
  calls: Object.keys(OpenApi.fromApi(Api).paths).length
})
