/** The branches of a project, as a tree. */
import { Pager } from "../../components/Pager.tsx"
import { Page } from "../../shell/Page.tsx"
import type { BranchShown, EndpointShown } from "../records.ts"
import { BranchTable } from "./BranchTable.tsx"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface BranchesPageProps extends ProjectPageProps {
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly next_cursor: string | null
}

export const BranchesPage = (props: BranchesPageProps) => {
  const { branches, endpoints, frame, next_cursor, project } = props
  const here = pathOf(props)
  const change = mayChange(frame)
  return (
    <Page
      {...inSection(props, "branches")}
      title="Branches"
      lead={
        <span>A branch is a copy of another one at the moment of its creation. What you change in it stays in it.</span>
      }
      live={{ src: `/api/projects/${project.id}/events`, page: `${here}/branches`, regions: ["branches-table"] }}
      actions={
        change ? (
          <a class="button primary" href={`${here}/branches/new`}>
            New branch
          </a>
        ) : null
      }
    >
      <BranchTable branches={branches} endpoints={endpoints} here={here} mayChange={change} />
      <Pager next={next_cursor === null ? null : `${here}/branches?cursor=${encodeURIComponent(next_cursor)}`} />
    </Page>
  )
}
