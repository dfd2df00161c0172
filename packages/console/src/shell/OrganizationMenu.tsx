/** The menu of organizations: which one is active, the others, and how to make one. */
import { Icon } from "../components/Icon.tsx"
import type { Frame } from "./Frame.ts"

interface OrganizationMenuProps {
  readonly frame: Frame
  /** Whether a switch leads back to this page. */
  readonly returns: boolean
}

const initial = (name: string) => name.trim().slice(0, 1).toUpperCase() || "?"

export const OrganizationMenu = ({ frame, returns }: OrganizationMenuProps) => (
  <>
    <button type="button" class="who" popovertarget="organizations">
      <span class="mark" aria-hidden="true">
        {initial(frame.organization.name)}
      </span>
      <span>
        <span class="hidden">Organization: </span>
        {frame.organization.name}
        <small>{frame.organization.role}</small>
      </span>
      <Icon name="chevrons" />
    </button>
    <div class="menu start" popover="auto" id="organizations">
      <p class="who-menu">Switch organization</p>
      <ul>
        {frame.organizations.map(({ id, name, role }) => (
          <li key={id}>
            <form method="post" action="/api/auth/switch-org">
              <input type="hidden" name="org_id" value={id} />
              {returns ? <input type="hidden" name="return_to" value={frame.here} /> : null}
              <button type="submit" aria-current={id === frame.organization.id ? "true" : undefined}>
                <span>{name}</span>
                <span class="faint">{role}</span>
              </button>
            </form>
          </li>
        ))}
      </ul>
      <hr />
      <ul>
        <li>
          <a href="/orgs/new">
            <Icon name="plus" />
            New organization
          </a>
        </li>
      </ul>
    </div>
  </>
)
