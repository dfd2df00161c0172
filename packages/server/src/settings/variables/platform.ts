/** Variables of the platform: regions, computes, allowlists, events. */
import { defaultEventSettings, defaultRetention, defaultRunnerSettings } from "@narthex/core"
import { defaultUids } from "@narthex/local-postgres"
import { defaultProxySettings } from "@narthex/proxy"
import * as forms from "../forms.ts"
import { staticComputes, uidRange } from "../staticServers.ts"
import { optional, secret, variable } from "../Variable.ts"

const { classes } = defaultRunnerSettings

export const platform = {
  region: optional(
    "NARTHEX_REGION",
    forms.region,
    "the first of NARTHEX_REGIONS",
    "The region in the events of this instance. The process does not start if the catalog has no such region."
  ),
  regions: variable(
    "NARTHEX_REGIONS",
    forms.nonEmptyList("regions (lower-case letters, digits and dashes)", forms.region),
    ["local"],
    "The regions that the very first start adds, the first one as the default. Later changes are made with `narthex-server regions`."
  ),
  compute: variable(
    "NARTHEX_COMPUTE",
    forms.words("local", "static", "memory"),
    "local",
    "What runs Postgres for branches. `local`: processes on this machine. `static`: the servers of NARTHEX_STATIC_COMPUTES. `memory`: nothing, for tests."
  ),
  compute_uids: variable(
    "NARTHEX_COMPUTE_UIDS",
    uidRange,
    defaultUids,
    "With NARTHEX_COMPUTE=local, where the platform runs as root: the uids of the databases' servers. Each branch has one of its own; nothing else of the system may use them."
  ),
  compute_shared_account: optional(
    "NARTHEX_COMPUTE_SHARED_ACCOUNT",
    forms.words("accept"),
    "refused in production mode",
    "With NARTHEX_COMPUTE=local, where the platform does not run as root: all databases, the store and the platform share its account, so a session that breaks out of its Postgres can read and end all of them. `accept`: the operator accepts that."
  ),
  static_computes: secret(
    "NARTHEX_STATIC_COMPUTES",
    staticComputes,
    "none",
    'The Postgres servers of NARTHEX_COMPUTE=static: `[{"address","admin_url","tls"}]`. Proxies reach a server at `address` (host:port, or the absolute path of a socket); `admin_url` is its database `postgres` as a user that may create roles, and without it the server has roles of its own, which it checks itself. `tls` says how proxies reach it: `"verify"` with the authorities of the system, `{"ca": "<PEM>"}`, or `"none"`; another host needs the choice. Each is given to one branch, permanently.'
  ),
  static_endpoints: variable(
    "NARTHEX_STATIC_ENDPOINTS",
    forms.list("host:port, or absolute paths of sockets", forms.computeAddress),
    [],
    "More servers of NARTHEX_COMPUTE=static on this machine, with roles of their own, which they check themselves: no credentials can be minted there."
  ),
  postgres_bin: optional(
    "NARTHEX_POSTGRES_BIN",
    forms.path,
    "the system's Postgres, otherwise npm's",
    "The Postgres programs of the embedded store and of local computes: `system`, `npm`, or a directory with `postgres` and `initdb`."
  ),
  retention: {
    operations: variable(
      "NARTHEX_OPERATION_RETENTION",
      forms.duration,
      defaultRetention.operations,
      "How long operations are kept after their end."
    ),
    records: variable(
      "NARTHEX_RECORD_RETENTION",
      forms.duration,
      defaultRetention.records,
      "How long deleted projects, branches and endpoints are kept, and ended roles, API keys and invitations."
    )
  },
  operations: {
    computes_deadline: variable(
      "NARTHEX_COMPUTES_DEADLINE",
      forms.duration,
      classes.computes.deadline,
      "How long one try to start or stop a compute may take. Then it is stopped and tried again."
    ),
    computes_places: variable(
      "NARTHEX_COMPUTES_PLACES",
      forms.count,
      classes.computes.places,
      "How many computes an instance starts and stops at once."
    ),
    computes_per_org: optional(
      "NARTHEX_COMPUTES_PER_ORG",
      forms.count,
      `${classes.computes.per_org}; with local computes one for each core, 2 to 8`,
      "How many of them are for one person's organizations together, over all instances."
    ),
    roles_deadline: variable(
      "NARTHEX_ROLES_DEADLINE",
      forms.duration,
      classes.roles.deadline,
      "How long one try to change the roles of a running branch may take. Then it is stopped and tried again."
    ),
    roles_places: variable(
      "NARTHEX_ROLES_PLACES",
      forms.count,
      classes.roles.places,
      "On how many branches an instance changes roles at once."
    ),
    roles_per_org: variable(
      "NARTHEX_ROLES_PER_ORG",
      forms.count,
      classes.roles.per_org,
      "How many of them are for one person's organizations together, over all instances."
    ),
    branches_deadline: variable(
      "NARTHEX_BRANCHES_DEADLINE",
      forms.duration,
      classes.branches.deadline,
      "How long one try to create or reset a branch may take. Then it is stopped and tried again."
    ),
    branches_places: variable(
      "NARTHEX_BRANCHES_PLACES",
      forms.count,
      classes.branches.places,
      "How many branches an instance creates and resets at once."
    ),
    branches_per_org: optional(
      "NARTHEX_BRANCHES_PER_ORG",
      forms.count,
      `${classes.branches.per_org}; with local computes one for each two cores, 2 to 4`,
      "How many of them are for one person's organizations together, over all instances."
    ),
    deletions_deadline: variable(
      "NARTHEX_DELETIONS_DEADLINE",
      forms.duration,
      classes.deletions.deadline,
      "How long one try to stop and remove a deleted branch may take. Then it is stopped and tried again."
    ),
    deletions_places: variable(
      "NARTHEX_DELETIONS_PLACES",
      forms.count,
      classes.deletions.places,
      "How many deleted branches an instance removes at once."
    ),
    deletions_per_org: variable(
      "NARTHEX_DELETIONS_PER_ORG",
      forms.count,
      classes.deletions.per_org,
      "How many of them are for one person's organizations together, over all instances."
    ),
    copies_per_parent: variable(
      "NARTHEX_COPIES_PER_PARENT",
      forms.count,
      defaultRunnerSettings.per_parent,
      "How many copies of one branch run at once, over all instances."
    ),
    busy_limit: variable(
      "NARTHEX_BUSY_LIMIT",
      forms.duration,
      defaultRunnerSettings.busy_limit,
      "How long an operation waits for a machine that has no room for it. Then it fails."
    )
  },
  allowlist: {
    refresh: variable(
      "NARTHEX_ALLOWLIST_REFRESH",
      forms.duration,
      defaultProxySettings.allowlist.refresh,
      "How often a Postgres proxy refreshes the IP allowlists that it holds."
    ),
    max_stale: variable(
      "NARTHEX_ALLOWLIST_MAX_STALE",
      forms.duration,
      defaultProxySettings.allowlist.max_stale,
      "How long a proxy that cannot reach the control plane uses the allowlists that it holds. Then projects with rules refuse new connections; projects whose list was empty stay open, which is logged."
    )
  },
  events: {
    ring: variable(
      "NARTHEX_EVENT_RING",
      forms.count,
      defaultEventSettings.ring_events,
      "How many events of each organization are kept in memory for clients that resume."
    ),
    retention: variable(
      "NARTHEX_EVENT_RETENTION",
      forms.duration,
      defaultEventSettings.retention,
      "How long the event log retains events."
    ),
    heartbeat: variable(
      "NARTHEX_EVENT_HEARTBEAT",
      forms.duration,
      defaultEventSettings.heartbeat,
      "How long an event stream is silent before a heartbeat is sent."
    ),
    stream_max_age: variable(
      "NARTHEX_STREAM_MAX_AGE",
      forms.duration,
      defaultEventSettings.max_age,
      "The longest life of an event stream. A stream also ends when its session token expires."
    )
  }
}
