/** The page of a branch's database credentials: who holds which right, and the way to end it. */
import { Command } from "../components/Command.tsx"
import { Dialog } from "../components/Dialog.tsx"
import { Empty } from "../components/Empty.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { type BranchShown, type CredentialShown, credentialState, type ProjectShown, words } from "./records.ts"

export interface CredentialsPageProps {
  readonly frame: Frame
  readonly project: ProjectShown
  readonly branch: BranchShown
  readonly credentials: ReadonlyArray<CredentialShown>
  readonly next_cursor: string | null
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

export const CredentialsPage = (props: CredentialsPageProps) => {
  const { branch, credentials, frame, next_cursor, notice, problem, project } = props
  const home = `/orgs/${frame.organization.id}/projects`
  const here = `${home}/${project.id}/branches/${branch.id}/credentials`
  return (
    <Page
      title={`Credentials of ${branch.name}`}
      frame={frame}
      section="projects"
      project={{ id: project.id, name: project.name, section: "branches", branch }}
      lead={
        <span>
          Each is a Postgres role of this branch with a password of its own. You see those that you may revoke.
        </span>
      }
      notice={notice}
      problem={problem}
    >
      {credentials.length === 0 ? (
        <Empty title="No credentials">
          <p>
            Create a connection string on the page of the project, or with{" "}
            <Command>narthex api POST /v1/projects/…/branches/…/credentials</Command>
          </p>
        </Empty>
      ) : (
        <Credentials credentials={credentials} here={here} />
      )}
      <Pager next={next_cursor === null ? null : `${here}?cursor=${encodeURIComponent(next_cursor)}`} />
    </Page>
  )
}

interface CredentialsProps {
  readonly credentials: ReadonlyArray<CredentialShown>
  readonly here: string
}

const Credentials = ({ credentials, here }: CredentialsProps) => (
  <div class="table">
    <table>
      <caption class="hidden">Credentials that are valid or are being ended</caption>
      <thead>
        <tr>
          <th scope="col">Role</th>
          <th scope="col">Access</th>
          <th scope="col">State</th>
          <th scope="col">Created by</th>
          <th scope="col">Created</th>
          <th scope="col">Expires</th>
          <th scope="col">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {credentials.map((credential, index) => {
          const { tone, word } = credentialState(credential)
          return (
            <tr key={credential.role}>
              <th scope="row">
                <code>{credential.role}</code>
              </th>
              <td>{words(credential.access)}</td>
              <td>
                <State tone={tone}>{word}</State>
              </td>
              <td>
                {credential.minted_by?.email ?? credential.minted_by?.id ?? <span class="soft">unknown</span>}
                {credential.api_key_name === null ? null : (
                  <span class="soft under">with the key {credential.api_key_name}</span>
                )}
              </td>
              <td>
                <Ago at={credential.created_at} />
              </td>
              <td>
                <Until at={credential.expires_at} none="never" />
              </td>
              <td class="end">
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
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)
