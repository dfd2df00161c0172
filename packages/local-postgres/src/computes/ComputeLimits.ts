/** How long and how much: the limits of local computes, in one place. Tests change them. */
import { Duration } from "effect"

export interface ComputeLimits {
  /** How long a revocation may take while users have sessions. Then the server is restarted without them. */
  readonly revocation_within: Duration.Duration
  /** How much longer other changes of roles may take, and everything on a server that no user can reach. */
  readonly roles_patience: Duration.Duration
  /** How many copies of one running parent are made at a time. `Cluster` has a slot for each. */
  readonly copies_per_parent: number
  /** Bytes of a running parent up to which it is copied without a slot (`ClusterBackup`). */
  readonly copied_without_slot: number
  /** Bytes that a copy leaves free on the disk. */
  readonly disk_reserve: number
  /** How many times the rest of a nearly full disk the branches of one organization may take (`copyRoom`). */
  readonly disk_share: number
  /** How long a call waits for the end of one that it takes over from. */
  readonly takeover_within: Duration.Duration
  /** How much longer a suspend may take to find out whether the next start has roles to apply. */
  readonly seal_patience: Duration.Duration
  /** How long a running server may take to tell whether it has roles to apply. */
  readonly comparison_within: Duration.Duration
}

/** The bytes that every disk of computes keeps free. */
export const diskReserve = 256 * 1024 * 1024

export const defaultComputeLimits: ComputeLimits = {
  revocation_within: Duration.seconds(5),
  roles_patience: Duration.seconds(60),
  copies_per_parent: 3,
  copied_without_slot: 256 * 1024 * 1024,
  disk_reserve: diskReserve,
  disk_share: 4,
  takeover_within: Duration.seconds(10),
  seal_patience: Duration.seconds(2),
  comparison_within: Duration.seconds(5)
}
