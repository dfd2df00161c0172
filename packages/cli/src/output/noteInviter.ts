/** Says that the first sign-in made the person a member of the organization (docs/design/cli.md C19). */
import type { Whoami } from "@narthex/api"
import { Effect } from "effect"
import { Output } from "./Output.ts"
import { personText, printable } from "./table.ts"

/** A note, if the membership is not confirmed. Only a session can confirm it, so the note leads to the console. */
export const noteInviter = ({ invited_by, organization }: Whoami) =>
  invited_by === null
    ? Effect.void
    : Effect.flatMap(Output, (output) =>
        output.note(
          `${printable(personText(invited_by))} invited you to ${printable(organization.name)}. Stay or leave in the console.`
        )
      )
