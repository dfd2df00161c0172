/** How operations are performed: places, limits and times (docs/design/operations.md). */
import { Context, Duration } from "effect"
import type { RegionId } from "../Ids.ts"
import type { OperationClass } from "../records/operations/OperationClass.ts"

export interface ClassPolicy {
  /** How many operations of the class an instance performs at once. */
  readonly places: number
  /** How many of them one organization has at once, over all instances of the region. Fewer than `places`, or it can hold all. */
  readonly per_org: number
  /** How long one try may take. Then its call of the compute driver is abandoned and counts as a failure. */
  readonly deadline: Duration.Duration
}

export interface RunnerSettings {
  /** The region whose operations the runner performs, with the computes of its driver; `null`: every region. */
  readonly region: RegionId | null
  /** How long a claimed operation belongs to its worker. The worker extends it after each third of that time. */
  readonly lease: Duration.Duration
  /** How long an instance waits for a nudge before it looks for due operations again. */
  readonly poll: Duration.Duration
  /** How many times a failed operation is tried again. Revocations and deletions are tried without end. */
  readonly retries: number
  /** How long an operation waits for machines that have no room for it. Then it fails. */
  readonly busy_limit: Duration.Duration
  /** How long a call of the compute driver may take to end once it is interrupted. Then it is abandoned. */
  readonly grace: Duration.Duration
  /** How many copies of one branch run at once, over all instances of the region. */
  readonly per_parent: number
  readonly classes: Readonly<Record<OperationClass, ClassPolicy>>
}

export const defaultRunnerSettings: RunnerSettings = {
  region: null,
  lease: Duration.seconds(30),
  poll: Duration.millis(500),
  retries: 4,
  busy_limit: Duration.hours(1),
  grace: Duration.seconds(5),
  per_parent: 3,
  classes: {
    // Generous: after a crash Postgres replays its log first.
    computes: { places: 16, per_org: 8, deadline: Duration.minutes(10) },
    roles: { places: 16, per_org: 8, deadline: Duration.minutes(1) },
    branches: { places: 8, per_org: 4, deadline: Duration.hours(1) },
    deletions: { places: 8, per_org: 4, deadline: Duration.minutes(10) }
  }
}

export const RunnerPolicy = Context.Reference<RunnerSettings>("@narthex/core/runner/RunnerPolicy", {
  defaultValue: () => defaultRunnerSettings
})
