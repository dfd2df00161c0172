/** The answer to a form that made a sandbox: how to connect to it, shown once (docs/design/console.md W15). */
import { Actions } from "../../components/Actions.tsx"
import { Card } from "../../components/Card.tsx"
import { Notice } from "../../components/Notice.tsx"
import { Page } from "../../shell/Page.tsx"
import { Connected } from "./Connected.tsx"
import { inSection, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export const shownBefore = "This form was already sent. The secret was shown then and cannot be shown again."

export interface PasswordPageProps extends ProjectPageProps {
  readonly branch: { readonly id: string; readonly name: string }
  /** `null` when the form was already sent: the API returns a secret only once. */
  readonly connection_uri: string | null
  readonly sentence: string
}

export const PasswordPage = (props: PasswordPageProps) => {
  const { branch, connection_uri, sentence } = props
  const here = pathOf(props)
  const back = `${here}?branch=${branch.id}#connect`
  return (
    <Page {...inSection(props, "branches", { branch })} title={`Connect to ${branch.name}`}>
      {connection_uri === null ? (
        <>
          <Notice tone="busy" focused>
            {shownBefore}
          </Notice>
          <Actions>
            <a class="button primary" href={back}>
              Back to the project
            </a>
          </Actions>
        </>
      ) : (
        <Card id="connect">
          <Connected
            here={here}
            back={back}
            tab="psql"
            branch={branch}
            connection_uri={connection_uri}
            sentence={sentence}
          />
        </Card>
      )}
    </Page>
  )
}
