/** The catalog of events: the code, the design and the events themselves agree with it (docs/design/events.md E52). */
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import {
  ApiKeyId,
  BranchId,
  EndpointId,
  OrgId,
  ProjectId,
  RegionId,
  SessionId,
  UserId,
  WebhookId
} from "../../src/Ids.ts"
import { allowlistChanged } from "../../src/records/allowlist/AllowlistChange.ts"
import { cancelRequested } from "../../src/records/events/CancelNotice.ts"
import { endpointChanged } from "../../src/records/events/EndpointChange.ts"
import type { EventData } from "../../src/records/events/Envelope.ts"
import { type CatalogedEvent, eventCatalog } from "../../src/records/events/eventCatalog.ts"
import * as InternalEvents from "../../src/records/events/InternalEvents.ts"
import { webhookTested } from "../../src/records/webhooks/Webhook.ts"
import { encodeEvent, overflowFrame, resumeGapFrame } from "../../src/services/events/ring/SseFrame.ts"

const root = resolve(import.meta.dirname, "../../../..")
const catalog: Readonly<Record<string, CatalogedEvent>> = eventCatalog
const at = DateTime.makeUnsafe(0)
const org_id = OrgId.make("org")
const project_id = ProjectId.make("prj-1")
const scope = { org_id, project_id, region_id: RegionId.make("local") }

/** Comments show types of a host. */
const code = (file: string) => readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")

const dataOf = (bytes: Uint8Array | undefined): EventData =>
  JSON.parse(/^data: (.*)$/m.exec(new TextDecoder().decode(bytes))?.[1] ?? "null").data

/** An event that cannot be encoded. */
const unencodable = () => {
  const event = {
    ...scope,
    project_id: null,
    type: "a\nb",
    source: "test",
    internal: false,
    data: {},
    at,
    pos: 1,
    id: ""
  }
  const encoded = encodeEvent(event, 1_000)
  return encoded._tag === "Poison" ? encoded.org : assert.fail("It was encoded.")
}

/** One event of each form, by type. `operation.updated.v1` has a test of its own. */
const made: Readonly<Record<string, ReadonlyArray<EventData>>> = {
  "resume.gap.v1": [
    dataOf(resumeGapFrame(scope, at, { reason: "ahead", last_event_id: null, oldest_id: null, latest_id: "" }))
  ],
  "overflow.v1": [dataOf(overflowFrame(scope, at, 1, ""))],
  "error.v1": [dataOf(unencodable())],
  "webhook.test.v1": [webhookTested({ id: WebhookId.make("wh-1"), org_id, project_id }).data],
  "internal.revoked.v1": [
    InternalEvents.sessionRevoked(org_id, SessionId.make("session")),
    InternalEvents.apiKeyRevoked(org_id, ApiKeyId.make("key")),
    InternalEvents.membershipRevoked(org_id, UserId.make("user")),
    InternalEvents.projectRevoked(org_id, project_id),
    InternalEvents.branchRevoked(org_id, project_id, BranchId.make("br-1"))
  ].map(({ data }) => data),
  "internal.allowlist_changed.v1": [allowlistChanged(org_id, { project_id, version: 1 }).data],
  "internal.endpoint_changed.v1": [endpointChanged(org_id, project_id, { endpoint_id: EndpointId.make("ep-1") }).data],
  "internal.cancel_requested.v1": [cancelRequested({ key_hash: "0".repeat(64), client_address: "192.0.2.1" }).data]
}

const membersOf = (type: string) => Object.keys(catalog[type]?.data ?? {})

describe("the catalog of events", () => {
  it("the catalog has every type that the code of the core names", () => {
    const files = globSync("packages/core/src/**/*.ts", { cwd: root })
    assert.isAbove(files.length, 100)
    const named = files
      .filter((file) => !file.endsWith("EventTypes.ts") && !file.endsWith("eventCatalog.ts"))
      .flatMap((file) => [...code(resolve(root, file)).matchAll(/"([a-z_]+(?:\.[a-z_]+)*\.v\d+)"/g)])
      .map(([, type = ""]) => type)
    assert.sameMembers([...new Set(named)], Object.keys(catalog))
  })

  it("the data of each event has exactly the members of its entry", () => {
    assert.sameMembers(["operation.updated.v1", ...Object.keys(made)], Object.keys(catalog))
    for (const [type, data] of Object.entries(made)) {
      const names = [...new Set(data.flatMap((it) => Object.keys(it)))]
      assert.sameMembers(
        names.map((name) => (data.every((it) => name in it) ? name : `${name}?`)),
        membersOf(type),
        type
      )
    }
  })

  it("the design names the types of the catalog with their members, and no other", () => {
    const page = readFileSync(resolve(root, "docs/design/events.md"), "utf8")
    const types = [...page.matchAll(/`((?:[a-z_]+\.)+v\d+)`/g)].map(([, type = ""]) => type)
    // An example of a host's type, which is in no catalog.
    assert.sameMembers([...new Set(types.filter((type) => type !== "invoice.paid.v1"))], Object.keys(catalog))
    for (const type of Object.keys(catalog)) {
      const rules = page.split(/\*\*E\d+\.\*\*/).filter((rule) => rule.includes(`\`${type}\``))
      const missing = membersOf(type).filter((name) => {
        const word = new RegExp(`\\b${name.replace("?", "")}\\b`)
        return !rules.some((rule) => word.test(rule))
      })
      assert.deepStrictEqual(missing, [], type)
    }
  })
})
