/** The page of a branch's database credentials: who holds which right, and the way to end it. */
import { type Frame, Page } from "./Layout.tsx"
import { Command, Confirm, Empty, Notice, Status, Time, TimeOr } from "./parts.tsx"
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
    <Page title={`Credentials of ${branch.name}`} frame={frame} section="projects">
      <p class="crumbs">
        <a href={home}>Projects</a> / <a href={`${home}/${project.id}`}>{project.name}</a>
      </p>
      <h1>Credentials of {branch.name}</h1>
      <p class="soft">
        Each is a Postgres role of this branch with a password of its own. You see those that you may revoke.
      </p>
      {notice === undefined ? null : <Notice>{notice}</Notice>}
      {problem === undefined ? null : <Notice tone="bad">{problem}</Notice>}
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
      {next_cursor === null ? null : (
        <p>
          <a class="button" href={`${here}?cursor=${encodeURIComponent(next_cursor)}`}>
            Older credentials
          </a>
        </p>
      )}
    </Page>
  )
}

interface CredentialsProps {
  readonly credentials: ReadonlyArray<CredentialShown>
  readonly here: string
}

const Credentials = ({ credentials, here }: CredentialsProps) => (
  <div class="scroll">
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
                <Status tone={tone}>{word}</Status>
              </td>
              <td>
                {credential.minted_by?.email ?? credential.minted_by?.id ?? <span class="soft">unknown</span>}
                {credential.api_key_name === null ? null : (
                  <span class="soft under">with the key {credential.api_key_name}</span>
                )}
              </td>
              <td>
                <Time at={credential.created_at} />
              </td>
              <td>
                <TimeOr at={credential.expires_at} none="never" />
              </td>
              <td class="end">
                <Confirm
                  id={`revoke-${index}`}
                  opener="Revoke"
                  openerLabel={`Revoke ${credential.role}`}
                  title={`Revoke ${credential.role}?`}
                  action={`${here}/revoke`}
                  confirm="Revoke the credential"
                  fields={{ role: credential.role }}
                >
                  <p>Its sessions end, also those that hold locks, and it cannot connect again.</p>
                </Confirm>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)
