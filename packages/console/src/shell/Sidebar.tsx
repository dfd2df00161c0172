/** The sidebar: the organization's places and, inside a project, the project's. On a phone it is a popover. */
import { Icon, type IconName } from "../components/Icon.tsx"
import type { Frame, ProjectInFrame, ProjectSection, Section } from "./Frame.ts"
import { OrganizationMenu } from "./OrganizationMenu.tsx"
import { UserMenu } from "./UserMenu.tsx"

interface PlaceProps {
  readonly href: string
  readonly icon: IconName
  readonly label: string
  readonly current: boolean
  /** Invitations that wait for an answer. */
  readonly count?: string | null
}

const Place = ({ count = null, current, href, icon, label }: PlaceProps) => (
  <a class="place" href={href} aria-current={current ? "page" : undefined}>
    <Icon name={icon} />
    {label}
    {count === null ? null : <span class="count">{count}</span>}
  </a>
)

export const organizationPlaces: ReadonlyArray<{
  readonly section: Section
  readonly path: string
  readonly icon: IconName
  readonly label: string
}> = [
  { section: "projects", path: "projects", icon: "layers", label: "Projects" },
  { section: "activity", path: "activity", icon: "activity", label: "Activity" },
  { section: "members", path: "members", icon: "people", label: "Members" },
  { section: "api-keys", path: "api-keys", icon: "key", label: "API keys" },
  { section: "regions", path: "regions", icon: "globe", label: "Regions" },
  { section: "settings", path: "settings", icon: "sliders", label: "Settings" }
]

export const projectPlaces: ReadonlyArray<{
  readonly section: ProjectSection
  /** Below the project's path. */
  readonly path: string
  readonly icon: IconName
  readonly label: string
}> = [
  { section: "overview", path: "", icon: "grid", label: "Overview" },
  { section: "branches", path: "/branches", icon: "branch", label: "Branches" },
  { section: "endpoints", path: "/endpoints", icon: "server", label: "Endpoints" },
  { section: "operations", path: "/operations", icon: "spark", label: "Operations" },
  { section: "allowlist", path: "/ip-allow", icon: "shield", label: "Allowlist" },
  { section: "settings", path: "/settings", icon: "sliders", label: "Settings" }
]

interface SidebarProps {
  readonly frame: Frame
  readonly section: Section | undefined
  readonly project: ProjectInFrame | undefined
}

export const Sidebar = ({ frame, project, section }: SidebarProps) => {
  const home = `/orgs/${frame.organization.id}`
  return (
    <div class="side" popover="auto" id="side">
      <OrganizationMenu frame={frame} returns={section === undefined} />
      <nav aria-label="Main">
        {organizationPlaces.map(({ icon, label, path, section: place }) => (
          <Place
            key={place}
            href={`${home}/${path}`}
            icon={icon}
            label={label}
            current={project === undefined && section === place}
          />
        ))}
        {frame.invitations === null && section !== "invitations" ? null : (
          <Place
            href="/invitations"
            icon="mail"
            label="Invitations"
            current={section === "invitations"}
            count={frame.invitations}
          />
        )}
      </nav>
      {project === undefined ? null : (
        <nav aria-labelledby="project-places">
          <p class="group" id="project-places" title={project.name}>
            {project.name}
          </p>
          {projectPlaces.map(({ icon, label, path, section: place }) => (
            <Place
              key={place}
              href={`${home}/projects/${project.id}${path}`}
              icon={icon}
              label={label}
              current={project.section === place}
            />
          ))}
        </nav>
      )}
      <div class="me">
        <UserMenu frame={frame} />
      </div>
    </div>
  )
}
