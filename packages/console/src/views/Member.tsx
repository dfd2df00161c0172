/** One member: who it is, a change of the role, and the removal with everything that ends with it. */
import type { ApiKeyRecord, CredentialRecord, Member } from "@narthex/api"
import type { ComponentChildren } from "preact"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { Checkbox } from "../components/Checkbox.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Facts } from "../components/Facts.tsx"
import { Field } from "../components/Field.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { capabilityName } from "./capabilities.ts"
import { errorOf, nameOf } from "./Members.tsx"
import { roleChoices, roleLabel, rolesToGrant } from "./roles.ts"

export interface Holdings {
  /** The newest ones; the counts say how many there are. */
  readonly api_keys: ReadonlyArray<typeof ApiKeyRecord.Type>
  readonly api_keys_count: number
  readonly credentials: ReadonlyArray<typeof CredentialRecord.Type>
  readonly credentials_count: number
}

export interface MemberPageProps {
  readonly frame: Frame
  readonly member: Member
  readonly is_self: boolean
  /** The keys and credentials that end with the membership; `null`: the person may not remove the member. */
  readonly holdings: Holdings | null
  /** The role that is selected. */
  readonly selected_role: string
  readonly errors: ReadonlyArray<FieldError>
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

export const MemberPage = (props: MemberPageProps) => {
  const { errors, frame, holdings, is_self, member, notice, problem } = props
  const roles = rolesToGrant(frame.permissions, member.role)
  const removable = holdings !== null && (is_self || roles.length > 0)
  return (
    <Page title={nameOf(member)} frame={frame} section="members" notice={notice} problem={problem} errors={errors}>
      <Card id="member">
        <Facts
          items={[
            ["Email address", member.email ?? "unknown"],
            ["Role", roleLabel(member.role)],
            ["Member since", <Ago at={member.joined_at} />]
          ]}
        />
      </Card>
      {roles.length === 0 ? null : <Role {...props} roles={roles} />}
      {removable ? <Removal {...props} holdings={holdings} /> : null}
    </Page>
  )
}

const Role = (props: MemberPageProps & { readonly roles: ReadonlyArray<string> }) => {
  const { errors, frame, is_self, member, roles, selected_role } = props
  return (
    <Card id="role-card">
      <form method="post" action={`/orgs/${frame.organization.id}/members/${member.user_id}/role`} class="stack slim">
        <Field
          name="role"
          label="Role"
          choices={roleChoices(roles.includes(member.role) ? roles : [member.role, ...roles])}
          value={selected_role}
          error={errorOf(errors, "role")}
          hint="A lower role acts at once. Database credentials that it may not create end."
        />
        {is_self ? (
          <Checkbox
            name="confirm"
            label="I understand that I may lose rights that only another member can give back"
            error={errorOf(errors, "confirm")}
          />
        ) : null}
        <Actions>
          <button type="submit" class="primary">
            Change role
          </button>
        </Actions>
      </form>
    </Card>
  )
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

interface EndingProps {
  readonly label: string
  readonly count: number
  readonly names: ReadonlyArray<ComponentChildren>
}

/** Keys or credentials that end: their number, and the names of the newest. */
const Ending = ({ count, label, names }: EndingProps) =>
  count === 0 ? null : (
    <>
      <p>{counted(count, label)}</p>
      <ul class="plain-list">
        {names.map((name, index) => (
          <li key={index}>{name}</li>
        ))}
        {count > names.length ? <li class="soft">and {count - names.length} more</li> : null}
      </ul>
    </>
  )

const Removal = ({ frame, holdings, is_self, member }: MemberPageProps & { readonly holdings: Holdings }) => {
  const { api_keys, api_keys_count, credentials, credentials_count } = holdings
  const home = `/orgs/${frame.organization.id}`
  const organization = frame.organization.name
  const name = nameOf(member)
  return (
    <Card id="removal" title={is_self ? `Leave ${organization}` : `Remove ${name}`}>
      <div class="stack">
        {api_keys_count + credentials_count === 0 ? (
          <p>No API keys and no database credentials end with the membership.</p>
        ) : (
          <>
            <p>With the membership end, at once:</p>
            <Ending
              count={api_keys_count}
              label="API key"
              names={api_keys.map((key) => `${key.name} · ${capabilityName(key.capability)}`)}
            />
            <Ending
              count={credentials_count}
              label="database credential"
              names={credentials.map(({ access, api_key_name, role }) => (
                <>
                  <code>{role}</code> · {access.replaceAll("_", " ")}
                  {api_key_name === null ? null : ` · by the key ${api_key_name}`}
                </>
              ))}
            />
          </>
        )}
        <p class="soft">
          Projects, branches and data stay. To come back, {is_self ? "you need" : "the person needs"} a new invitation.
        </p>
        <form
          method="post"
          action={is_self ? `${home}/leave` : `${home}/members/${member.user_id}/remove`}
          class="stack slim"
        >
          {is_self || credentials_count === 0 ? null : (
            <Checkbox
              name="hand_over"
              label="Hand the database credentials over to me, so that programs that use them keep working"
            />
          )}
          <Actions>
            <button type="submit" class="danger">
              {is_self ? `Leave ${organization}` : `Remove ${name}`}
            </button>
          </Actions>
        </form>
      </div>
    </Card>
  )
}
