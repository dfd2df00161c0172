/** The content of a page's shell: who is signed in, in which organization, and the places to go to. */
import type { DateTime } from "effect"
import type { ThemeChoice } from "../web/theme.ts"

/** The number of projects or branches in a menu; the palette has more. */
export const inMenu = 30

export interface Frame {
  readonly user: { readonly id: string; readonly email: string | null; readonly name: string | null }
  readonly organization: OrganizationInFrame
  readonly organizations: ReadonlyArray<OrganizationInFrame>
  /** Name and address of the inviter, while the membership is not confirmed. */
  readonly inviter: string | null
  /** How many invitations are pending, as text; `null`: none. */
  readonly invitations: string | null
  /** The person's permissions in the organization. */
  readonly permissions: ReadonlyArray<string>
  /** The page's path, to return to after a switch of organization. */
  readonly here: string
  /** The time of the request. */
  readonly now: DateTime.Utc
  readonly theme: ThemeChoice
  /** Projects to switch to, on a page of a project. */
  readonly projects: ReadonlyArray<NamedPlace>
  /** Branches to switch to, on a page of a branch. */
  readonly branches: ReadonlyArray<NamedPlace>
}

export interface OrganizationInFrame {
  readonly id: string
  readonly name: string
  readonly role: string | null
}

export interface NamedPlace {
  readonly id: string
  readonly name: string
}

/** The entry of the sidebar that the page belongs to. */
export type Section =
  | "projects"
  | "activity"
  | "members"
  | "api-keys"
  | "regions"
  | "settings"
  | "account"
  | "invitations"

/** The entry of a project's part of the sidebar. */
export type ProjectSection = "overview" | "branches" | "endpoints" | "operations" | "allowlist" | "settings"

/** The project of a page, for the sidebar and the breadcrumb. */
export interface ProjectInFrame extends NamedPlace {
  readonly section: ProjectSection
  /** The branch of the page. */
  readonly branch?: NamedPlace
}
