/** Shown when another tab has switched the organization: names both, and offers to switch back. */
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"

export interface OtherOrganizationPageProps {
  readonly frame: Frame
  /** The organization that the address names; the active one is the frame's. */
  readonly to: Frame["organization"]
}

export const OtherOrganizationPage = ({ frame, to }: OtherOrganizationPageProps) => (
  <Page
    title="Another organization"
    heading={`This page belongs to ${to.name}`}
    lead={<span>You are working in {frame.organization.name}. Nothing was changed.</span>}
    frame={frame}
    narrow
  >
    <form method="post" action="/api/auth/switch-org" class="actions">
      <input type="hidden" name="org_id" value={to.id} />
      <input type="hidden" name="return_to" value={frame.here} />
      <button type="submit" class="primary">
        Switch to {to.name}
      </button>
      <a class="button" href="/projects">
        Stay in {frame.organization.name}
      </a>
    </form>
  </Page>
)
