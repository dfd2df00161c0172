/** Pages as functions from data to markup: their texts in each state, and that data is escaped. */
import { assert, describe, it } from "@effect/vitest"
import { EndpointRecord, OwnInvitationRecord } from "@narthex/api"
import { Schema } from "effect"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { Field } from "../src/components/Field.tsx"
import { InvitationsPage } from "../src/views/Invitations.tsx"
import { Landing, MessagePage, PendingPage, SignInPage } from "../src/views/Landing.tsx"
import { branchState, endpointState, regionLabel, words } from "../src/views/records.ts"
import { SecretPage } from "../src/views/Secret.tsx"
import { frameOf } from "./support/frame.ts"
import { peoplePages } from "./support/peoplePages.tsx"

const render = (view: VNode) => renderToString(view)
const hostile = `"><script>alert('x')</script>`

const frame = frameOf({
  organization: { id: "org-1", name: hostile, role: "owner" },
  organizations: [
    { id: "org-1", name: hostile, role: hostile },
    { id: "org-2", name: hostile, role: null }
  ],
  projects: [{ id: "prj-2", name: hostile }]
})

const invitation = Schema.decodeSync(OwnInvitationRecord)({
  id: "0198f3d2-7c1a-7b44-9c55-000000000001",
  organization: { id: "org-2", name: hostile },
  role: hostile,
  invited_by: { id: "user-2", email: "grace@example.com", name: hostile },
  created_at: "2026-11-20T12:00:00.000Z",
  expires_at: "2026-11-27T12:00:00.000Z"
})

const at = "2026-11-20T12:00:00.000Z"
const pages: Readonly<Record<string, VNode>> = {
  landing: <Landing />,
  "sign-in": (
    <SignInPage
      providers={[{ id: "a", name: hostile }]}
      hrefOf={() => hostile}
      forCommandLine={false}
      invited={{ email: hostile, organization: hostile, inviter: hostile }}
    />
  ),
  pending: <PendingPage email={hostile} invitations={[invitation]} form_token={() => "form-1"} />,
  invitations: (
    <InvitationsPage
      frame={{ ...frame, inviter: hostile, here: hostile }}
      invitations={[invitation]}
      next_cursor={hostile}
      notice={hostile}
      joined={frame.organization}
      invited={{ email: hostile, organization: hostile, inviter: null }}
      form_token={() => "form-1"}
    />
  ),
  message: <MessagePage title={hostile}>{hostile}</MessagePage>,
  ...peoplePages(frame, hostile),
  secret: (
    <SecretPage
      frame={frame}
      section="api-keys"
      title={hostile}
      name={hostile}
      secret={hostile}
      explanation={hostile}
      back={{ href: "/", label: hostile }}
    />
  )
}

describe("every page", () => {
  for (const [name, view] of Object.entries(pages)) {
    const html = render(view)

    it(`the ${name} page shows data as text`, () => {
      assert.notInclude(html, "<script>alert")
      assert.notMatch(html, /=""><script/)
    })

    it(`the ${name} page has a language, a title, one h1, a main landmark and a skip link`, () => {
      assert.match(html, /^<html lang="en">/)
      assert.match(html, /<title>[^<]+ · Narthex<\/title>/)
      assert.strictEqual(html.match(/<h1[ >]/g)?.length, 1)
      assert.strictEqual(html.match(/<main[ >]/g)?.length, 1)
      assert.match(html, /<a class="skip" href="#main">/)
    })

    it(`every field of the ${name} page has a label, and no id occurs twice`, () => {
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      assert.deepStrictEqual(ids, [...new Set(ids)])
      for (const [tag] of html.matchAll(/<(?:input|select)\b[^>]*>/g)) {
        if (tag.includes('type="hidden"')) continue
        const id = / id="([^"]+)"/.exec(tag)?.[1]
        assert.isDefined(id, tag)
        assert.include(html, `for="${id}"`)
      }
    })
  }
})

describe("a field", () => {
  it("a field names its hint and its error to screen readers", () => {
    const html = render(<Field name="cidr" label="Network" value="10/8" hint="A CIDR." error="No CIDR." />)
    assert.match(html, /aria-invalid="true"/)
    assert.match(html, /aria-describedby="cidr-hint cidr-error"/)
    assert.match(html, /<p class="hint" id="cidr-hint">A CIDR\.<\/p><p class="error" id="cidr-error">No CIDR\.<\/p>/)
  })

  it("a field without an error is not marked invalid", () => {
    assert.notMatch(render(<Field name="a" label="A" />), /aria-invalid|aria-describedby/)
  })
})

describe("states", () => {
  const endpoint = (more: Partial<typeof EndpointRecord.Type>): typeof EndpointRecord.Type => ({
    ...Schema.decodeSync(EndpointRecord)({
      id: "ep-1",
      connection_template: "postgresql://{role}:{password}@h:5442/postgres",
      project_id: "prj-1",
      branch_id: "br-1",
      region_id: "r",
      host: "h",
      port: 1,
      type: "read_write",
      current_state: "idle",
      pending_state: null,
      disabled: false,
      suspend_timeout_seconds: 300,
      size: null,
      last_active_at: null,
      started_at: null,
      suspended_at: null,
      created_at: at,
      updated_at: at
    }),
    ...more
  })

  it("the state of an endpoint is the word for what it does now", () => {
    assert.deepStrictEqual(endpointState(endpoint({})), { word: "suspended", tone: "idle" })
    assert.deepStrictEqual(endpointState(endpoint({ current_state: "active" })), { word: "active", tone: "good" })
    assert.deepStrictEqual(endpointState(endpoint({ pending_state: "active" })), { word: "starting", tone: "busy" })
    const suspending = endpoint({ current_state: "active", pending_state: "idle" })
    assert.deepStrictEqual(endpointState(suspending), { word: "suspending", tone: "busy" })
    const made = endpoint({ current_state: "init", pending_state: "idle" })
    assert.deepStrictEqual(endpointState(made), { word: "creating", tone: "busy" })
    assert.strictEqual(endpointState(endpoint({ disabled: true })).word, "disabled")
  })

  it("an unknown state of a newer API is shown as words", () => {
    assert.strictEqual(endpointState(endpoint({ current_state: "moving_house" })).word, "moving house")
    assert.strictEqual(words("create_timeline"), "create timeline")
  })

  it("the state of a branch and a region are shown as words", () => {
    const branch = { current_state: "ready", pending_state: "resetting" } as Parameters<typeof branchState>[0] // all it reads
    assert.deepStrictEqual(branchState(branch), { word: "resetting", tone: "busy" })
    const made = { current_state: "init", pending_state: "ready" } as typeof branch // all it reads
    assert.deepStrictEqual(branchState(made), { word: "creating", tone: "busy" })
    const reset = { current_state: "resetting", pending_state: "ready" } as typeof branch // all it reads
    assert.deepStrictEqual(branchState(reset), { word: "resetting", tone: "busy" })
    const region = { region_id: "eu", name: "eu", default: true } as Parameters<typeof regionLabel>[0] // all it reads
    assert.strictEqual(regionLabel(region), "eu")
    assert.strictEqual(regionLabel({ ...region, location: "Stockholm" }), "eu · Stockholm")
  })
})
