/** How long the steps of the driver may take, in seconds. Tests change them. */
export interface ComputeLimits {
  /** The first data of a branch: an image has to be loaded, or a snapshot to be restored. */
  readonly made_within: number
  /** A snapshot of a parent. */
  readonly snapped_within: number
  /** From the request of a start until its server answers. */
  readonly started_within: number
  readonly stopped_within: number
  readonly removed_within: number
  /** A revocation while users have sessions. Then the server is stopped. */
  readonly revoked_within: number
  /** How much longer other changes of roles may take. */
  readonly roles_patience: number
  /** How long a running server may take to tell whether it has roles to apply. */
  readonly compared_within: number
}

export const defaultComputeLimits: ComputeLimits = {
  made_within: 50 * 60,
  snapped_within: 30 * 60,
  started_within: 5 * 60,
  stopped_within: 3 * 60,
  removed_within: 5 * 60,
  revoked_within: 5,
  roles_patience: 60,
  compared_within: 5
}
