/** The list of API keys: what matters first, and a link to the page of each. */
import { Card } from "../components/Card.tsx"
import { Command } from "../components/Command.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Empty } from "../components/Empty.tsx"
import { Pager } from "../components/Pager.tsx"
import { Table } from "../components/Table.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { capabilityName } from "./capabilities.ts"
import { installCommand } from "./commandLine.ts"
import { shortId } from "./eventWords.ts"
import type { ApiKeyShown, ProjectShown } from "./records.ts"

export interface ApiKeysPageProps {
  readonly frame: Frame
  readonly api_keys: ReadonlyArray<ApiKeyShown>
  /** The projects whose names are in scopes. */
  readonly projects: ReadonlyArray<ProjectShown>
  readonly next_cursor: string | null
  readonly notice?: string | undefined
}

export const scopeName = (scope: ApiKeyShown["scope"], projects: ReadonlyArray<ProjectShown>): string => {
  if (scope.type === "organization") return "Whole organization"
  const project = projects.find(({ id }) => id === scope.project_id)?.name ?? shortId(scope.project_id)
  return scope.type === "project" ? `Project ${project}` : `One branch of ${project}`
}

export const ApiKeysPage = ({ api_keys, frame, next_cursor, notice, projects }: ApiKeysPageProps) => {
  const here = `/orgs/${frame.organization.id}/api-keys`
  return (
    <Page
      title="API keys"
      frame={frame}
      section="api-keys"
      notice={notice}
      lead={<span>A key acts as the person who created it, within its capability and scope.</span>}
      actions={
        <>
          <a class="button" href={`${here}/new?for=agent`}>
            Connect an agent
          </a>
          <a class="button primary" href={`${here}/new`}>
            Create API key
          </a>
        </>
      }
    >
      <Card id="keys">
        <Table
          label="API keys that are not revoked"
          empty={
            <Empty title="No API keys yet">
              <p>
                The command line creates its own key when you sign in: <Command>{installCommand}</Command>, then{" "}
                <Command>narthex login</Command>
              </p>
            </Empty>
          }
          columns={[
            { head: "Name" },
            { head: "ID" },
            { head: "Capability", phone: "aside" },
            { head: "Scope" },
            { head: "Created" },
            { head: "Last used" },
            { head: "Expires" }
          ]}
          rows={api_keys.map((key) => ({
            key: key.id,
            cells: [
              <a href={`${here}/${key.id}`}>{key.name}</a>,
              <CopyField
                id={`id-${key.id}`}
                label={`Copy the ID of ${key.name}`}
                text={key.id}
                short={shortId(key.id)}
              />,
              capabilityName(key.capability),
              scopeName(key.scope, projects),
              <>
                <Ago at={key.created_at} />
                <span class="under">by {key.created_by.email ?? "a former member"}</span>
              </>,
              key.last_used_at === null ? <span class="faint">never</span> : <Ago at={key.last_used_at} />,
              <Until at={key.expires_at} none="never" />
            ]
          }))}
        />
        <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
      </Card>
    </Page>
  )
}
