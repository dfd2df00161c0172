/** Variables of the platform: regions, computes, allowlists, events. */
import { defaultEventSettings, defaultRetention, defaultRunnerSettings } from "@narthex/core"
import { defaultUids } from "@narthex/local-postgres"
import { defaultProxySettings } from "@narthex/proxy"
import * as forms from "../forms.ts"
import { kubernetesOptions } from "../kubernetesOptions.ts"
import { staticComputes, uidRange } from "../staticServers.ts"
import { optional, secret, variable } from "../Variable.ts"

const { classes } = defaultRunnerSettings

export const platform = {
  region: optional(
    "NARTHEX_REGION",
    forms.region,
    "the only region of the store",
    "The region of this process. Its runner performs the operations of the region's projects and has their computes, its proxy serves their endpoints, and its events carry the region. Where the store has several regions, a process of `narthex-server` does not start without it. `narthex-proxy` serves every region without it."
  ),
  regions: variable(
    "NARTHEX_REGIONS",
    forms.nonEmptyList("regions (lower-case letters, digits and dashes)", forms.region),
    ["local"],
    "The regions that the very first start adds, the first one as the default. Later changes are made with `narthex-server regions`."
  ),
  compute: variable(
    "NARTHEX_COMPUTE",
    forms.words("local", "static", "kubernetes", "memory"),
    "local",
    "What runs Postgres for branches. `local`: processes on this machine. `static`: the servers of NARTHEX_STATIC_COMPUTES. `kubernetes`: clusters of CloudNativePG (NARTHEX_KUBERNETES). `memory`: nothing, for tests."
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
  kubernetes: optional(
    "NARTHEX_KUBERNETES",
    kubernetesOptions,
    "none",
    'The choices of NARTHEX_COMPUTE=kubernetes: `{"storage_class","snapshot_class"}`, and what docs/operating/kubernetes.md lists. The API server is that of the file in KUBECONFIG, of the pod that the runner is in, or of `~/.kube/config`.'
  ),
  postgres_bin: optional(
    "NARTHEX_POSTGRES_BIN",
    forms.path,
    "the system's Postgres, otherwise npm's",
    "The Postgres programs of the embedded store and of local computes: `system`, `npm`, or a directory with `postgres` and `initdb`."
  ),
  retention: {
    records: variable(
      "NARTHEX_RECORD_RETENTION",
      forms.duration,
      defaultRetention.records,
      "How long deleted projects, branches and endpoints are kept, ended roles, API keys and invitations, and entries of the audit log."
    )
  },
  operations: {
    computes_places: variable(
      "NARTHEX_COMPUTES_PLACES",
      forms.count,
      classes.computes.places,
      "How many computes an instance starts and stops at once. An organization has at most half of the places of a class."
    ),
    roles_places: variable(
      "NARTHEX_ROLES_PLACES",
      forms.count,
      classes.roles.places,
      "On how many branches an instance changes roles at once."
    ),
    branches_places: variable(
      "NARTHEX_BRANCHES_PLACES",
      forms.count,
      classes.branches.places,
      "How many branches an instance creates and resets at once."
    ),
    deletions_places: variable(
      "NARTHEX_DELETIONS_PLACES",
      forms.count,
      classes.deletions.places,
      "How many deleted branches an instance removes at once."
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
    retention: variable(
      "NARTHEX_EVENT_RETENTION",
      forms.duration,
      defaultEventSettings.retention,
      "How long the event log retains events."
    )
  }
}
