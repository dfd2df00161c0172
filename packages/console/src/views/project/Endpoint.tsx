/** The page of one endpoint. */
import { endpointSizeText, type OfferedSize } from "@narthex/api"
import { Card } from "../../components/Card.tsx"
import { CopyField } from "../../components/CopyField.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { Facts } from "../../components/Facts.tsx"
import { Field } from "../../components/Field.tsx"
import { State } from "../../components/State.tsx"
import { Until } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { type BranchShown, type EndpointShown, endpointState } from "../records.ts"
import { SizeField } from "../SizeField.tsx"
import { maskedConnection } from "./connection.ts"
import { Switch, typeWords } from "./EndpointTable.tsx"
import { suspendTimeoutChoices, suspendTimeoutLabel } from "./lifetimes.ts"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface EndpointPageProps extends ProjectPageProps {
  readonly endpoint: EndpointShown
  readonly branch: BranchShown
  readonly sizes: ReadonlyArray<OfferedSize>
}

export const EndpointPage = (props: EndpointPageProps) => {
  const { branch, endpoint, frame, project, sizes } = props
  const here = pathOf(props)
  const page = `${here}/endpoints/${endpoint.id}`
  const { tone, word } = endpointState(endpoint)
  const { host, parameters, port } = maskedConnection(endpoint)
  const name = `the ${typeWords(endpoint.type)} endpoint of ${branch.name}`
  return (
    <Page
      {...inSection(props, "endpoints")}
      title={`${branch.name}, ${typeWords(endpoint.type)}`}
      lead={
        <>
          <span id="endpoint-state">
            <State tone={tone}>{word}</State>
          </span>
          <CopyField id="endpoint-id" label="Copy the endpoint's ID" text={endpoint.id} />
        </>
      }
      live={{ src: `/api/projects/${project.id}/events`, page, regions: ["endpoint-state", "endpoint-switch"] }}
      actions={
        mayChange(frame) && !endpoint.disabled ? (
          <span id="endpoint-switch">
            <Switch endpoint={endpoint} page={page} name={name} returnTo={page} />
          </span>
        ) : null
      }
    >
      <Card id="facts">
        <Facts
          items={[
            ["Branch", <a href={`${here}/branches/${branch.id}`}>{branch.name}</a>],
            ["Host", <CopyField id="host" label="Copy the host" text={host} />],
            ["Port", <code>{port}</code>],
            ...parameters.map(([name, value]) => [name, <code>{value}</code>] as const),
            ["Size", endpointSizeText(endpoint.size)],
            ["Suspends after", suspendTimeoutLabel(endpoint.suspend_timeout_seconds)],
            ["Last active", <Until at={endpoint.last_active_at} none="never" />],
            ["Started", <Until at={endpoint.started_at} none="never" />],
            ["Suspended", <Until at={endpoint.suspended_at} none="never" />]
          ]}
        />
      </Card>
      {mayChange(frame) ? (
        <>
          {sizes.length === 0 ? null : (
            <Card id="size" title="Size">
              <form method="post" action={`${page}/resize`} class="form">
                <SizeField
                  sizes={sizes}
                  value={sizes.some(({ name }) => name === endpoint.size?.name) ? (endpoint.size?.name ?? "") : ""}
                  hint="A running compute starts again with the new size, which ends its connections. A suspended one has it at its next start."
                />
                <div class="actions">
                  <button type="submit">Change the size</button>
                </div>
              </form>
            </Card>
          )}
          <Card id="change" title="Time-out">
            <form method="post" action={page} class="form">
              <Field
                name="timeout"
                label="Suspends after"
                choices={suspendTimeoutChoices(endpoint.suspend_timeout_seconds)}
                value={`${endpoint.suspend_timeout_seconds}`}
                hint="The compute stops after this long without a query. The next connection starts it."
              />
              <div class="actions">
                <button type="submit">Save</button>
              </div>
            </form>
          </Card>
          <Card id="end" title={endpoint.disabled ? "Enable, delete" : "Disable, delete"}>
            <div class="choice">
              <p>
                <b>{endpoint.disabled ? "Enable" : "Disable"}</b>
                <span class="under">
                  {endpoint.disabled
                    ? "Programs can connect again."
                    : "Open connections end, and new ones are refused until you enable it."}
                </span>
              </p>
              <form method="post" action={`${page}/${endpoint.disabled ? "enable" : "disable"}`}>
                <input type="hidden" name="return_to" value={page} />
                <button type="submit" class={endpoint.disabled ? undefined : "danger"}>
                  {endpoint.disabled ? "Enable" : "Disable"}
                </button>
              </form>
            </div>
            <div class="choice">
              <p>
                <b>Delete</b>
                <span class="under">
                  Its host name is gone for good. The data of {branch.name} stays. A new endpoint has another host.
                </span>
              </p>
              <Dialog
                id="delete-endpoint"
                opener="Delete"
                openerLabel={`Delete ${name}`}
                title={`Delete ${name}?`}
                action={`${page}/delete`}
                confirm="Delete the endpoint"
              >
                <p>Open connections end, and programs that use its host fail. The data of the branch stays.</p>
              </Dialog>
            </div>
          </Card>
        </>
      ) : null}
    </Page>
  )
}
