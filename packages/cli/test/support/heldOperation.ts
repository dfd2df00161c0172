/** A control plane with one operation, which has the status that the test gives it. */
import { Envelope, OrgId, RegionId } from "@narthex/api"
import { DateTime, Effect } from "effect"
import { acme, at, project, shop } from "./records.ts"
import { signedIn } from "./signedIn.ts"

export const id = "01930000-0000-7000-8000-00000000dddd"

export const operation = (status: string, error: string | null = null) => ({
  id,
  project_id: shop,
  branch_id: null,
  endpoint_id: null,
  action: "create_timeline",
  status,
  error,
  failures_count: 0,
  retry_at: null,
  initiator: { type: "user", id: null, name: null },
  created_at: at,
  updated_at: at,
  started_at: null,
  finished_at: ["finished", "failed", "error", "cancelled", "skipped"].includes(status) ? at : null
})

/** The operation runs, after an attempt that failed with `error`. `finish` ends it, and tells the streams. */
export const heldOperation = (error: string | null) =>
  Effect.gen(function* () {
    const world = yield* signedIn
    const now = { operation: operation("running", error), reads: 0 }
    world.plane.instead = ({ path }) => {
      if (path === `/v1/projects/${shop}`)
        return { status: 200, body: { project: project({ id: shop, name: "shop", region: "eu" }) } }
      if (path !== `/v1/projects/${shop}/operations/${id}`) return undefined
      now.reads += 1
      return { status: 200, body: { operation: now.operation } }
    }
    const finish = () => {
      now.operation = operation("finished")
      world.plane.send(
        new Envelope({
          id: "01JD0000000000000000000001",
          type: "operation.updated.v1",
          source: "operations",
          org_id: OrgId.make(acme),
          project_id: shop,
          region_id: RegionId.make("eu"),
          at: DateTime.makeUnsafe(at),
          data: { operation_id: id, action: "create_timeline", status: "finished" }
        })
      )
    }
    return { ...world, id, now, finish }
  })
