import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { RegionId } from "../../../src/Ids.ts"
import { type GapReason, resumeGapFrame } from "../../../src/services/events/ring/SseFrame.ts"
import { idAt, org, project } from "../fixtures.ts"

const at = DateTime.makeUnsafe("2026-05-01T12:00:00Z")

const historyOf = (reason: GapReason, last_event_id: string | null, project_id: typeof project | null) => {
  const scope = { org_id: org, project_id, region_id: RegionId.make("local") }
  const gap = { reason, last_event_id, oldest_id: idAt(4), latest_id: idAt(9) }
  const text = new TextDecoder().decode(resumeGapFrame(scope, at, gap))
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "null").data.history_url
}

describe("the history that a gap points at", () => {
  it("a gap points at the history after the client's position if the log may still have it", () => {
    assert.strictEqual(historyOf("too_old", idAt(2), null), `/v1/events/history?after=${idAt(2)}`)
    assert.strictEqual(
      historyOf("too_old", idAt(2), project),
      `/v1/projects/${project}/events/history?after=${idAt(2)}`
    )
  })

  it("a gap points at the whole history if the position means nothing here", () => {
    assert.strictEqual(historyOf("ahead", idAt(99), null), "/v1/events/history")
    assert.strictEqual(historyOf("malformed", null, project), `/v1/projects/${project}/events/history`)
  })
})
