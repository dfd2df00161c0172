/** The frame of a page, as views get it. */
import { DateTime } from "effect"
import type { Frame } from "../../src/shell/Frame.ts"

export const frameOf = (more: Partial<Frame> = {}): Frame => ({
  user: { id: "user-1", email: "ada@example.com", name: null },
  organization: { id: "org-1", name: "Engines", role: "owner" },
  organizations: [{ id: "org-1", name: "Engines", role: "owner" }],
  inviter: null,
  invitations: null,
  permissions: ["create_projects"],
  here: "/orgs/org-1/projects",
  now: DateTime.makeUnsafe("2026-11-20T12:05:00.000Z"),
  theme: "system",
  projects: [],
  branches: [],
  ...more
})
