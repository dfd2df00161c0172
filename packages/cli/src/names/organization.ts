/** The organization of the credential: the only one that its calls serve. */
import { Effect } from "effect"
import type { AuthenticatedApi } from "../connection/Connection.ts"

export const ownOrganization = ({ client }: AuthenticatedApi) =>
  Effect.map(client.api.auth.whoami(), ({ organization, user }) => ({
    id: organization.id,
    name: organization.name,
    user_id: user.id
  }))
