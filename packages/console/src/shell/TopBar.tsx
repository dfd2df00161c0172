/** The bar above the page: the current place, switchers for project and branch, and the palette. */
import { Icon } from "../components/Icon.tsx"
import type { Frame, NamedPlace, ProjectInFrame, Section } from "./Frame.ts"
import { organizationPlaces, projectPlaces } from "./Sidebar.tsx"

/** A place above the page. */
export interface Crumb {
  readonly label: string
  readonly href: string
  /** Siblings of the place, to switch to. */
  readonly switch?: { readonly id: string; readonly label: string; readonly places: ReadonlyArray<Crumb> } | undefined
}

const Switch = ({ id, label, places }: NonNullable<Crumb["switch"]>) => (
  <>
    <button type="button" class="quiet switch" popovertarget={id} aria-label={label}>
      <Icon name="chevrons" size={14} />
    </button>
    <div class="menu start" popover="auto" id={id}>
      <ul>
        {places.map(({ href, label }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ul>
    </div>
  </>
)

const switchOf = (
  id: string,
  label: string,
  places: ReadonlyArray<NamedPlace>,
  current: string,
  hrefOf: (place: string) => string
): Crumb["switch"] => {
  const others = places.filter((place) => place.id !== current)
  return others.length === 0
    ? undefined
    : { id, label, places: others.map((place) => ({ label: place.name, href: hrefOf(place.id) })) }
}

/** The places above a page, outermost first. The last is the page's section, or the page itself. */
const crumbsOf = (
  { branches, organization, projects }: Frame,
  section: Section | undefined,
  project: ProjectInFrame | undefined
): ReadonlyArray<Crumb> => {
  const home = `/orgs/${organization.id}`
  const place = organizationPlaces.find((it) => it.section === section)
  const outer: ReadonlyArray<Crumb> = [{ label: organization.name, href: `${home}/projects` }]
  if (project === undefined)
    return place === undefined ? outer : [...outer, { ...place, href: `${home}/${place.path}` }]
  const here = `${home}/projects/${project.id}`
  const inner = projectPlaces.find((it) => it.section === project.section)
  const { branch } = project
  return [
    ...outer,
    {
      label: project.name,
      href: here,
      switch: switchOf("projects-menu", "Switch project", projects, project.id, (id) => `${home}/projects/${id}`)
    },
    ...(inner === undefined ? [] : [{ label: inner.label, href: `${here}${inner.path}` }]),
    ...(branch === undefined
      ? []
      : [
          {
            label: branch.name,
            href: `${here}/branches/${branch.id}`,
            switch: switchOf("branches-menu", "Switch branch", branches, branch.id, (id) => `${here}/branches/${id}`)
          }
        ])
  ]
}

interface TopBarProps {
  readonly frame: Frame
  readonly section: Section | undefined
  readonly project: ProjectInFrame | undefined
  readonly title: string
}

export const TopBar = ({ frame, project, section, title }: TopBarProps) => {
  const found = crumbsOf(frame, section, project)
  // A page below its section ends the path itself.
  const crumbs =
    found.at(-1)?.label === title || project?.section === "overview"
      ? found
      : [...found, { label: title, href: frame.here }]
  return (
    <header class="top">
      <button type="button" class="quiet icon-button drawer" popovertarget="side" aria-label="Navigation">
        <Icon name="menu" />
      </button>
      <nav class="crumbs" aria-label="Breadcrumb">
        <ol>
          {crumbs.map((crumb, index) => (
            <li key={crumb.label}>
              {index === crumbs.length - 1 ? (
                <span aria-current="page">{crumb.label}</span>
              ) : (
                <a href={crumb.href}>{crumb.label}</a>
              )}
              {crumb.switch === undefined ? null : <Switch {...crumb.switch} />}
            </li>
          ))}
        </ol>
      </nav>
      <button type="button" class="find" command="show-modal" commandfor="palette">
        <Icon name="search" />
        <span>Go to…</span>
        <kbd>⌘K</kbd>
      </button>
    </header>
  )
}
