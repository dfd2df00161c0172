/**
 * The answer to a form that made a Postgres role: its connection string, ready to paste for each program. It is shown
 * once (docs/design/console.md W15).
 */
import { Actions } from "../../components/Actions.tsx"
import { Card } from "../../components/Card.tsx"
import { Notice } from "../../components/Notice.tsx"
import { Page } from "../../shell/Page.tsx"
import { readConnection, tabNamed, tabs } from "./connection.ts"
import { inSection, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface PasswordPageProps extends ProjectPageProps {
  readonly branch: { readonly id: string; readonly name: string }
  /** `null` when the form was already sent: the API returns a secret only once. */
  readonly connection_uri: string | null
  /** The program that comes first. */
  readonly tab: string
  /** A sentence about the role or sandbox that was made. */
  readonly made: string
}

export const PasswordPage = (props: PasswordPageProps) => {
  const { branch, connection_uri, made } = props
  const here = pathOf(props)
  const connection = connection_uri === null ? null : readConnection(connection_uri)
  const first = tabNamed(props.tab)
  return (
    <Page
      {...inSection(props, "branches", { branch })}
      title={`Connect to ${branch.name}`}
      lead={connection_uri === null ? undefined : <span>{made}</span>}
    >
      {connection_uri === null ? (
        <Notice tone="busy" focused>
          This form was already sent. The secret was shown then and cannot be shown again.
        </Notice>
      ) : (
        <>
          <Notice tone="busy" focused>
            The password is shown only once and cannot be recovered.
          </Notice>
          <Card
            id="uri"
            title="Connection string"
            more={<copy-button for="secret" label="Copy the connection string" />}
          >
            <pre class="code">
              <output id="secret" aria-labelledby="uri-title">
                {connection_uri}
              </output>
            </pre>
          </Card>
          {connection === null
            ? null
            : [first, ...tabs.filter(({ id }) => id !== first.id)].map(({ id, label, lines }) => (
                <Card
                  key={id}
                  id={`for-${id}`}
                  title={label}
                  more={<copy-button for={`lines-${id}`} label={`Copy the lines for ${label}`} />}
                >
                  <pre class="code">
                    <code id={`lines-${id}`}>{lines(connection)}</code>
                  </pre>
                </Card>
              ))}
        </>
      )}
      <Actions>
        <a class="button primary" href={here}>
          {connection_uri === null ? "Back to the project" : "I have stored it"}
        </a>
        <a class="button" href={`${here}/branches/${branch.id}/credentials`}>
          Credentials of {branch.name}
        </a>
      </Actions>
    </Page>
  )
}
