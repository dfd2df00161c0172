/**
 * The layout of every page: head, header, main.
 *
 * Pages are functions from data to markup. Preact escapes data, and no page sets inner HTML. Inline scripts and styles
 * are refused by the content security policy (docs/design/console.md W8), so there are none.
 */
import type { ComponentChildren } from "preact"
import { assetPaths } from "./Assets.ts"
import { InvitedBy, type InvitedByProps } from "./InvitedBy.tsx"

/** What the header shows: who is signed in, and in which organization. */
export interface Frame {
  readonly user: { readonly email: string | null; readonly name: string | null }
  readonly organization: OrganizationInFrame
  readonly organizations: ReadonlyArray<OrganizationInFrame>
  /** Who invited the person, while the membership is not confirmed. */
  readonly inviter: InvitedByProps["inviter"] | null
  /** How many invitations are pending, as text; `null`: none. */
  readonly invitations: string | null
  /** What the person may do in the organization. */
  readonly permissions: ReadonlyArray<string>
  /** The page's path, to return to after a switch of organization. */
  readonly here: string
}

interface OrganizationInFrame {
  readonly id: string
  readonly name: string
  readonly role: string | null
}

interface DocumentProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Reloads the page, or opens `to`, after this many seconds. */
  readonly refresh?: { readonly seconds: number; readonly to?: string }
}

const Document = ({ children, refresh, title }: DocumentProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{`${title} · Narthex`}</title>
      <link rel="icon" type="image/svg+xml" href={assetPaths.icon} />
      <link rel="stylesheet" href={assetPaths.style} />
      <script type="module" src={assetPaths.script} />
      {refresh === undefined ? null : (
        <meta
          http-equiv="refresh"
          content={refresh.to === undefined ? `${refresh.seconds}` : `${refresh.seconds}; url=${refresh.to}`}
        />
      )}
    </head>
    <body>
      <a class="skip" href="#main">
        Skip to content
      </a>
      {children}
    </body>
  </html>
)

const Brand = ({ href }: { readonly href: string }) => (
  <a class="brand" href={href}>
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path d="M4 21V11a8 8 0 0 1 16 0v10h-4V11a4 4 0 0 0-8 0v10z" fill="currentColor" />
    </svg>
    Narthex
  </a>
)

const SignOut = () => (
  <form method="post" action="/sign-out">
    <button class="quiet" type="submit">
      Sign out
    </button>
  </form>
)

/** A page without an organization. */
export const PlainPage = (props: DocumentProps & { readonly signedIn?: boolean; readonly wide?: boolean }) => (
  <Document {...props}>
    <header class="bar">
      <Brand href="/" />
      <span class="grow" />
      {props.signedIn ? <SignOut /> : null}
    </header>
    <main id="main" class={props.wide ? "wide" : "narrow"}>
      {props.children}
    </main>
  </Document>
)

const Switcher = ({ frame, returns }: { readonly frame: Frame; readonly returns: boolean }) => (
  <details class="menu">
    <summary>
      <span class="hidden">Organization: </span>
      {frame.organization.name}
    </summary>
    <div class="sheet">
      <p class="soft">Switch organization</p>
      <ul>
        {frame.organizations.map(({ id, name, role }) => (
          <li key={id}>
            <form method="post" action="/api/auth/switch-org">
              <input type="hidden" name="org_id" value={id} />
              {returns ? <input type="hidden" name="return_to" value={frame.here} /> : null}
              <button type="submit" aria-current={id === frame.organization.id ? "true" : undefined}>
                <span>{name}</span>
                <span class="soft">{role}</span>
              </button>
            </form>
          </li>
        ))}
      </ul>
    </div>
  </details>
)

export type Section = "projects" | "api-keys" | "invitations"

/** A page of an organization. A switch of organization returns to the same page if that page is in no section. */
export const Page = (props: DocumentProps & { readonly frame: Frame; readonly section?: Section }) => {
  const { frame, section } = props
  const home = `/orgs/${frame.organization.id}`
  return (
    <Document {...props}>
      <header class="bar">
        <Brand href={`${home}/projects`} />
        <Switcher frame={frame} returns={section === undefined} />
        <nav aria-label="Main">
          <a href={`${home}/projects`} aria-current={section === "projects" ? "page" : undefined}>
            Projects
          </a>
          <a href={`${home}/api-keys`} aria-current={section === "api-keys" ? "page" : undefined}>
            API keys
          </a>
          {frame.invitations === null && section !== "invitations" ? null : (
            <a href="/invitations" aria-current={section === "invitations" ? "page" : undefined}>
              {frame.invitations === null ? "Invitations" : `Invitations (${frame.invitations})`}
            </a>
          )}
        </nav>
        <span class="grow" />
        <span class="who soft">{frame.user.email ?? frame.user.name ?? "Signed in"}</span>
        <SignOut />
      </header>
      <main id="main">
        {frame.inviter === null ? null : (
          <InvitedBy inviter={frame.inviter} organization={frame.organization} here={frame.here} />
        )}
        {props.children}
      </main>
    </Document>
  )
}
