/** A page of an organization: sidebar, breadcrumb, heading with actions, notices, and what the page is about. */
import type { ComponentChildren } from "preact"
import { ErrorSummary, type FieldError } from "../components/ErrorSummary.tsx"
import { LiveRegion, type LiveRegionProps } from "../components/LiveRegion.tsx"
import { Notice } from "../components/Notice.tsx"
import { Now } from "../components/Times.tsx"
import { Document, type DocumentProps } from "./Document.tsx"
import type { Frame, ProjectInFrame, Section } from "./Frame.ts"
import { InvitedBy } from "./InvitedBy.tsx"
import { Palette } from "./Palette.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { TopBar } from "./TopBar.tsx"

export interface PageProps extends DocumentProps {
  readonly frame: Frame
  /** Left out: the page belongs to no entry of the sidebar, and a switch of organization returns to it. */
  readonly section?: Section | undefined
  /** Draws the project's part of the sidebar and of the breadcrumb. */
  readonly project?: ProjectInFrame | undefined
  /** The h1, where it is not the title. */
  readonly heading?: ComponentChildren
  /** Below the h1: a sentence, or states and short facts (`<span>`s in a line). */
  readonly lead?: ComponentChildren
  /** The regions that reload after events; `null`: none of this view. The state of the stream is beside the h1. */
  readonly live?: LiveRegionProps | null
  /** At the end of the heading: one primary action, and others. */
  readonly actions?: ComponentChildren
  /** A confirmation of the last action. */
  readonly notice?: string | undefined
  /** Why the last action did nothing. */
  readonly problem?: string | undefined
  /** The errors of a form that is shown again. */
  readonly errors?: ReadonlyArray<FieldError> | undefined
  /** For forms and texts. */
  readonly narrow?: boolean
}

export const Page = (props: PageProps) => {
  const {
    actions,
    children,
    errors = [],
    frame,
    heading,
    lead,
    live,
    narrow,
    notice,
    problem,
    project,
    section,
    title
  } = props
  return (
    <Now.Provider value={frame.now}>
      <Document {...props} title={`${errors.length === 0 ? "" : "Error: "}${title} · ${frame.organization.name}`}>
        <div class="shell">
          <Sidebar frame={frame} section={section} project={project} />
          <div>
            <TopBar frame={frame} section={section} project={project} title={title} />
            <main id="main" class={narrow === true ? "narrow" : undefined} tabIndex={-1}>
              {frame.inviter === null ? null : (
                <InvitedBy inviter={frame.inviter} organization={frame.organization} here={frame.here} />
              )}
              <ErrorSummary errors={errors} />
              <div class="head">
                <div class="grow">
                  <div class="title">
                    <h1>{heading ?? title}</h1>
                    {live === undefined ? null : (
                      <span id="live">{live === null ? null : <LiveRegion {...live} />}</span>
                    )}
                  </div>
                  {lead === undefined ? null : <div class="lead line">{lead}</div>}
                </div>
                {actions === undefined || actions === null ? null : <div class="actions">{actions}</div>}
              </div>
              {notice === undefined ? null : (
                <Notice passing focused>
                  {notice}
                </Notice>
              )}
              {problem === undefined ? null : (
                <Notice tone="bad" focused>
                  {problem}
                </Notice>
              )}
              {children}
            </main>
          </div>
        </div>
        <Palette />
      </Document>
    </Now.Provider>
  )
}
