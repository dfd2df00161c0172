// Generated from packages/postgres/src/migrations/ by scripts/docs.ts: change it there.
/** The migrations in the order of execution, which is that of their names. */
import { events } from "./migrations/0001_events.ts"
import { accounts } from "./migrations/0002_accounts.ts"
import { projects } from "./migrations/0003_projects.ts"
import { eventFloors } from "./migrations/0004_event_floors.ts"
import { requests } from "./migrations/0005_requests.ts"
import { sequenceByKey } from "./migrations/0006_sequence_by_key.ts"
import { operationClaims } from "./migrations/0007_operations.ts"
import { retention } from "./migrations/0007b_retention.ts"
import { credentials } from "./migrations/0008_credentials.ts"
import { quotas } from "./migrations/0009_quotas.ts"
import { activity } from "./migrations/0010_activity.ts"
import { lists } from "./migrations/0011_lists.ts"
import { instances } from "./migrations/0012_instances.ts"
import { staticComputes } from "./migrations/0012b_static_computes.ts"
import { computeHome } from "./migrations/0012c_compute_home.ts"
import { consent } from "./migrations/0013_consent.ts"
import { joinedEvents } from "./migrations/0015_joined_events.ts"
import { clientRefusals } from "./migrations/0016_client_refusals.ts"
import { hostSessions } from "./migrations/0017_host_sessions.ts"
import { branchKeys } from "./migrations/0018_branch_keys.ts"
import { people } from "./migrations/0018b_people.ts"
import { deletions } from "./migrations/0019_deletions.ts"
import { hostSessionEnds } from "./migrations/0020_host_session_ends.ts"
import { endpointUse } from "./migrations/0021_endpoint_use.ts"
import { dueOperations } from "./migrations/0022_due_operations.ts"
import { computeReach } from "./migrations/0023_compute_reach.ts"
import { turns } from "./migrations/0024_turns.ts"
import { projectNotes } from "./migrations/0025_project_notes.ts"

export const migrations: ReadonlyArray<readonly [name: string, text: string]> = [
  ["0001_events", events],
  ["0002_accounts", accounts],
  ["0003_projects", projects],
  ["0004_event_floors", eventFloors],
  ["0005_requests", requests],
  ["0006_sequence_by_key", sequenceByKey],
  ["0007_operations", operationClaims],
  ["0007b_retention", retention],
  ["0008_credentials", credentials],
  ["0009_quotas", quotas],
  ["0010_activity", activity],
  ["0011_lists", lists],
  ["0012_instances", instances],
  ["0012b_static_computes", staticComputes],
  ["0012c_compute_home", computeHome],
  ["0013_consent", consent],
  ["0015_joined_events", joinedEvents],
  ["0016_client_refusals", clientRefusals],
  ["0017_host_sessions", hostSessions],
  ["0018_branch_keys", branchKeys],
  ["0018b_people", people],
  ["0019_deletions", deletions],
  ["0020_host_session_ends", hostSessionEnds],
  ["0021_endpoint_use", endpointUse],
  ["0022_due_operations", dueOperations],
  ["0023_compute_reach", computeReach],
  ["0024_turns", turns],
  ["0025_project_notes", projectNotes]
]
