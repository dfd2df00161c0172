/** The notice after a form is true for as long as the page shows it. */
import { assert, describe, it } from "@effect/vitest"
import { type NoticeName, noticeIn } from "../src/requests/notices.ts"

const said = (name: NoticeName) => noticeIn(new URLSearchParams({ done: name })) ?? ""

describe("notices", () => {
  const ofOperations = [
    "project-created",
    "project-deleted",
    "branch-created",
    "branch-resetting",
    "branch-deleted",
    "endpoint-deleted",
    "endpoint-starting",
    "endpoint-suspending",
    "operation-cancelled"
  ] as const
  it.each(ofOperations)("the notice %s is true before and after its operation has ended", (name) => {
    assert.match(said(name), /^(The|A) .+ was (created|requested)\.$/)
  })

  it("a name that is no notice shows nothing", () => {
    assert.isUndefined(noticeIn(new URLSearchParams({ done: "constructor" })))
  })
})
