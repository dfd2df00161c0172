/** The endpoints of a project. */
import { Empty } from "../../components/Empty.tsx"
import { Pager } from "../../components/Pager.tsx"
import { Page } from "../../shell/Page.tsx"
import type { BranchShown, EndpointShown } from "../records.ts"
import { EndpointTable } from "./EndpointTable.tsx"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface EndpointsPageProps extends ProjectPageProps {
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly branches: ReadonlyArray<BranchShown>
  readonly next_cursor: string | null
}

export const EndpointsPage = (props: EndpointsPageProps) => {
  const { branches, endpoints, frame, next_cursor, project } = props
  const here = pathOf(props)
  const change = mayChange(frame)
  return (
    <Page
      {...inSection(props, "endpoints")}
      title="Endpoints"
      lead={<span>What programs connect to. A suspended one starts with the first connection.</span>}
      live={{ src: `/api/projects/${project.id}/events`, page: `${here}/endpoints`, regions: ["endpoints"] }}
      actions={
        change ? (
          <a class="button primary" href={`${here}/endpoints/new`}>
            Add an endpoint
          </a>
        ) : null
      }
    >
      <div id="endpoints">
        {endpoints.length === 0 ? (
          <Empty title="No endpoints">
            <p>Nothing can connect to the project until one of its branches has an endpoint.</p>
          </Empty>
        ) : (
          <div class="stack">
            <EndpointTable
              endpoints={endpoints}
              branches={branches}
              here={here}
              mayChange={change}
              returnTo={`${here}/endpoints`}
            />
          </div>
        )}
      </div>
      <Pager next={next_cursor === null ? null : `${here}/endpoints?cursor=${encodeURIComponent(next_cursor)}`} />
    </Page>
  )
}
