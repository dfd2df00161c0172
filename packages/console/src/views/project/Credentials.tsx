/** The page of a branch's database credentials: who holds which right, and the way to end it. */
import { Dialog } from "../../components/Dialog.tsx"
import { Empty } from "../../components/Empty.tsx"
import { Pager } from "../../components/Pager.tsx"
import { State } from "../../components/State.tsx"
import { Table } from "../../components/Table.tsx"
import { Ago, Until } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { type BranchShown, type CredentialShown, credentialState } from "../records.ts"
import { typeWords } from "./EndpointTable.tsx"
import { inSection, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface CredentialsPageProps extends ProjectPageProps {
  readonly branch: BranchShown
  readonly credentials: ReadonlyArray<CredentialShown>
  readonly next_cursor: string | null
}

export const CredentialsPage = (props: CredentialsPageProps) => {
  const { branch, credentials, next_cursor } = props
  const project = pathOf(props)
  const here = `${project}/branches/${branch.id}/credentials`
  return (
    <Page
      {...inSection(props, "branches", { branch })}
      title={`Credentials of ${branch.name}`}
      lead={
        <span>
          Each is a Postgres role of this branch with a password of its own. You see those that you may revoke.
        </span>
      }
      actions={
        <a class="button primary" href={`${project}?branch=${branch.id}#connect`}>
          Create a password
        </a>
      }
    >
      <Table
        label="Credentials that are valid or are being ended"
        columns={[
          { head: "Role" },
          { head: "State", phone: "aside" },
          { head: "Access" },
          { head: "Created" },
          { head: "Expires" },
          { head: "Actions", quiet: true, align: "end" }
        ]}
        rows={credentials.map((credential, index) => {
          const { tone, word } = credentialState(credential)
          return {
            key: credential.role,
            cells: [
              <code>{credential.role}</code>,
              <State tone={tone}>{word}</State>,
              typeWords(credential.access),
              <>
                <Ago at={credential.created_at} />
                <span class="under">
                  {credential.minted_by?.email ?? credential.minted_by?.id ?? "by the platform"}
                  {credential.api_key_name === null ? null : ` with the key ${credential.api_key_name}`}
                </span>
              </>,
              <Until at={credential.expires_at} none="never" />,
              <Dialog
                id={`revoke-${index}`}
                opener="Revoke"
                openerLabel={`Revoke ${credential.role}`}
                title={`Revoke ${credential.role}?`}
                action={`${here}/revoke`}
                confirm="Revoke the credential"
                fields={{ role: credential.role }}
              >
                <p>Its sessions end, also those that hold locks, and it cannot connect again.</p>
              </Dialog>
            ]
          }
        })}
        empty={
          <Empty title="No credentials">
            <p>A password that you create on the overview of the project is listed here.</p>
          </Empty>
        }
      />
      <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
    </Page>
  )
}
