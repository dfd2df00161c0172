/**
 * The notice of a membership that the first sign-in made (docs/design/console.md W18): who invited the person, with the
 * choice to stay or to leave.
 */
import { Dialog } from "../components/Dialog.tsx"
import { Icon } from "../components/Icon.tsx"

export interface InvitedByProps {
  /** Name and address. */
  readonly inviter: string
  readonly organization: { readonly id: string; readonly name: string }
  /** The page's path, to which both choices return, unless it belongs to the organization that is left, or lists the invitations. */
  readonly here: string
}

export const InvitedBy = ({ here, inviter, organization: { id, name } }: InvitedByProps) => (
  <section class="notice" aria-label="Invitation">
    <Icon name="mail" />
    <p role="status">
      {inviter} invited you to {name}. Your first sign-in made you a member.
    </p>
    <div class="actions">
      <form method="post" action="/api/auth/switch-org">
        <input type="hidden" name="org_id" value={id} />
        <input type="hidden" name="return_to" value={here === "/invitations" ? "/projects" : here} />
        <button type="submit">Stay</button>
      </form>
      <Dialog
        id="leave"
        opener="Leave"
        openerLabel={`Leave ${name}`}
        title={`Leave ${name}?`}
        action={`/orgs/${id}/leave`}
        confirm="Leave"
        fields={here.startsWith("/orgs/") ? {} : { return_to: here }}
      >
        <p>
          The API keys and database credentials that you made in this organization end. To come back you need a new
          invitation.
        </p>
      </Dialog>
    </div>
  </section>
)
