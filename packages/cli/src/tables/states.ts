/** The state of a branch or endpoint in a cell: the present one, and the one that it changes to. */
export const stateText = ({
  current_state,
  pending_state
}: {
  readonly current_state: string
  readonly pending_state: string | null
}): string => (pending_state === null ? current_state : `${current_state} → ${pending_state}`)

export const yesNo = (value: boolean): string => (value ? "yes" : "no")
