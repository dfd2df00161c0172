/** How long and how much: the limits of local computes, in one place. Tests change them. */
import { Duration } from "effect"

export interface ComputeLimits {
  /** How long a revocation may take while users have sessions. Then the server is restarted without them. */
  readonly revocation_within: Duration.Duration
  /** How much longer other changes of roles may take, and everything on a server that no user can reach. */
  readonly roles_patience: Duration.Duration
}

export const defaultComputeLimits: ComputeLimits = {
  revocation_within: Duration.seconds(5),
  roles_patience: Duration.seconds(60)
}
