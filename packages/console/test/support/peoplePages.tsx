/** The pages of people and organizations with the same text as every piece of data, for tests that hold for each page. */
import { ApiKeyRecord, InvitationRecord, Member, OrganizationView, Region, SessionRecord } from "@narthex/api"
import { Schema } from "effect"
import type { VNode } from "preact"
import type { Frame } from "../../src/shell/Frame.ts"
import { AccountPage } from "../../src/views/Account.tsx"
import { ActivityPage } from "../../src/views/ActivityPage.tsx"
import { ApiKeyPage } from "../../src/views/ApiKey.tsx"
import { ApiKeysPage } from "../../src/views/ApiKeys.tsx"
import { MemberPage } from "../../src/views/Member.tsx"
import { MembersPage } from "../../src/views/Members.tsx"
import { NewApiKeyPage } from "../../src/views/NewApiKey.tsx"
import { NewOrganizationPage } from "../../src/views/NewOrganization.tsx"
import { NewProjectPage } from "../../src/views/NewProject.tsx"
import { OrganizationSettingsPage } from "../../src/views/OrganizationSettings.tsx"
import { ProjectsPage } from "../../src/views/Projects.tsx"
import { RegionsPage } from "../../src/views/Regions.tsx"

const at = "2026-11-20T12:00:00.000Z"
const uuid = "0198f3d2-7c1a-7b44-9c55-000000000002"

export const peoplePages = (frame: Frame, hostile: string): Readonly<Record<string, VNode>> => {
  const author = { id: uuid, email: hostile }

  const people = {
    ...frame,
    permissions: ["manage_members", "manage_invitations", "rename_organization", "manage_owners", "delete_organization"]
  }

  const apiKey = Schema.decodeSync(ApiKeyRecord)({
    id: "key-01hzx3v5k7m9p1r3t5v7x9z1b3",
    name: hostile,
    hint: hostile,
    capability: hostile,
    scope: { type: "organization" },
    created_at: at,
    created_by: author,
    expires_at: null,
    last_used_at: at,
    last_used_from: hostile,
    revoked_at: null
  })

  const member = Schema.decodeSync(Member)({
    user_id: uuid,
    email: hostile,
    name: hostile,
    role: "member",
    joined_at: at
  })

  const invited = Schema.decodeSync(InvitationRecord)({
    id: uuid.replace(/2$/, "3"),
    org_id: uuid,
    email: hostile,
    role: hostile,
    status: hostile,
    invited_by: author,
    created_at: at,
    expires_at: at,
    accepted_at: null,
    revoked_at: null
  })

  const organization = Schema.decodeSync(OrganizationView)({
    id: uuid,
    name: hostile,
    personal: false,
    role: hostile,
    created_at: at,
    updated_at: at
  })

  const sessions = [true, false].map((current) =>
    Schema.decodeSync(SessionRecord)({
      id: current ? uuid : uuid.replace(/2$/, "3"),
      current,
      provider: hostile,
      signed_in_at: at,
      last_refreshed_at: at,
      user_agent: hostile,
      address: hostile
    })
  )

  const regions = ["eu-north", "us-west"].map((id, index) =>
    Schema.decodeSync(Region)({
      region_id: id,
      name: hostile,
      default: index === 0,
      geo_lat: 10 * index,
      geo_long: 179 * index,
      location: hostile
    })
  )

  return {
    projects: (
      <ProjectsPage
        frame={frame}
        projects={[]}
        next_cursor={hostile}
        name={hostile}
        left_out={hostile}
        notice={hostile}
      />
    ),
    "new project": (
      <NewProjectPage
        frame={frame}
        regions={regions}
        sizes={[{ name: hostile, cpus: 1, memory_bytes: 1, disk_bytes: 1, default: true }]}
        draft={{ name: hostile, region: hostile, size: hostile }}
        form_token="t"
        errors={[
          { field: "name", sentence: hostile },
          { field: "region", sentence: hostile },
          { field: "size", sentence: hostile }
        ]}
        problem={hostile}
      />
    ),
    "API keys": <ApiKeysPage frame={frame} api_keys={[apiKey]} projects={[]} next_cursor={hostile} notice={hostile} />,
    "new API key": (
      <NewApiKeyPage
        frame={frame}
        projects={[]}
        branches={null}
        draft={{ name: hostile, capability: hostile, scope: hostile, branch: "", expires_in_days: hostile }}
        form_token="t"
        errors={["name", "capability", "scope", "expires_in_days"].map((field) => ({ field, sentence: hostile }))}
        problem={hostile}
      />
    ),
    "API key": (
      <ApiKeyPage frame={frame} api_key={apiKey} scope={hostile} is_own form_token="t" errors={[]} problem={hostile} />
    ),
    members: (
      <MembersPage
        frame={people}
        members={[member]}
        next_cursor={hostile}
        invitations={[invited]}
        next_invitations={hostile}
        links={new Map([[invited.id, hostile]])}
        draft={{ email: hostile, role: hostile }}
        form_token="t"
        errors={[{ field: "email", sentence: hostile }]}
        notice={hostile}
      />
    ),
    member: (
      <MemberPage
        frame={people}
        member={member}
        is_self={false}
        holdings={{ api_keys: [apiKey], api_keys_count: 2, credentials: [], credentials_count: 1 }}
        selected_role="viewer"
        errors={[{ field: "role", sentence: hostile }]}
        problem={hostile}
      />
    ),
    "new organization": (
      <NewOrganizationPage
        frame={frame}
        name={hostile}
        form_token="t"
        errors={[{ field: "name", sentence: hostile }]}
        problem={hostile}
      />
    ),
    settings: (
      <OrganizationSettingsPage
        frame={people}
        organization={organization}
        usage={[
          { quota: "projects", held: 0, allowed: 10 },
          { quota: hostile, held: 12, allowed: 10 }
        ]}
        name={hostile}
        errors={[{ field: "typed", sentence: hostile }]}
        notice={hostile}
      />
    ),
    account: <AccountPage frame={frame} sessions={sessions} providers={new Map([["dev", hostile]])} notice={hostile} />,
    activity: (
      <ActivityPage
        frame={frame}
        items={[
          {
            key: "1",
            at: member.joined_at,
            took: 1200,
            sentence: { parts: [{ name: hostile }, " did ", { name: hostile }], tone: "bad", error: hostile }
          }
        ]}
        projects={[
          { id: hostile, name: hostile },
          { id: "prj-2", name: hostile }
        ]}
        project={hostile}
        newest
        next_cursor={hostile}
        trimmed={false}
      />
    ),
    regions: <RegionsPage frame={frame} regions={regions} />
  }
}
