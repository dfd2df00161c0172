/** Every planted fault. */
import { allowlistRules } from "./list/allowlistRules.ts"
import { allowlistStore } from "./list/allowlistStore.ts"
import { authentication } from "./list/authentication.ts"
import { branchQueues } from "./list/branchQueues.ts"
import { busyServers } from "./list/busyServers.ts"
import { client } from "./list/client.ts"
import { clientRefusals } from "./list/clientRefusals.ts"
import { clusterCopies } from "./list/clusterCopies.ts"
import { commandLine } from "./list/commandLine.ts"
import { commandNames } from "./list/commandNames.ts"
import { consent } from "./list/consent.ts"
import { consoleProject } from "./list/consoleProject.ts"
import { consoleShell } from "./list/consoleShell.ts"
import { contracts } from "./list/contracts.ts"
import { cpuGroups } from "./list/cpuGroups.ts"
import { credentials } from "./list/credentials.ts"
import { decisions } from "./list/decisions.ts"
import { directApi } from "./list/directApi.ts"
import { documentation } from "./list/documentation.ts"
import { endpointCuts } from "./list/endpointCuts.ts"
import { eventBroker } from "./list/eventBroker.ts"
import { eventFeed } from "./list/eventFeed.ts"
import { eventFrames } from "./list/eventFrames.ts"
import { eventIds } from "./list/eventIds.ts"
import { eventLog } from "./list/eventLog.ts"
import { eventRing } from "./list/eventRing.ts"
import { eventRingParts } from "./list/eventRingParts.ts"
import { eventStream } from "./list/eventStream.ts"
import { host } from "./list/host.ts"
import { instances } from "./list/instances.ts"
import { keys } from "./list/keys.ts"
import { library } from "./list/library.ts"
import { lists } from "./list/lists.ts"
import { localProcesses } from "./list/localProcesses.ts"
import { localRoles } from "./list/localRoles.ts"
import { narthex } from "./list/narthex.ts"
import { operationActions } from "./list/operationActions.ts"
import { operationChanges } from "./list/operationChanges.ts"
import { operationClaims } from "./list/operationClaims.ts"
import { operationHints } from "./list/operationHints.ts"
import { operationRunner } from "./list/operationRunner.ts"
import { operationStore } from "./list/operationStore.ts"
import { overviews } from "./list/overviews.ts"
import { packages } from "./list/packages.ts"
import { people } from "./list/people.ts"
import { personGroups } from "./list/personGroups.ts"
import { postgresEvents } from "./list/postgresEvents.ts"
import { postgresStores } from "./list/postgresStores.ts"
import { proxyAdmission } from "./list/proxyAdmission.ts"
import { proxyAuthentication } from "./list/proxyAuthentication.ts"
import { proxyConnections } from "./list/proxyConnections.ts"
import { proxyNetworks } from "./list/proxyNetworks.ts"
import { proxyOpening } from "./list/proxyOpening.ts"
import { proxyPackets } from "./list/proxyPackets.ts"
import { proxyRequests } from "./list/proxyRequests.ts"
import { quotas } from "./list/quotas.ts"
import { readOnlyRoles } from "./list/readOnlyRoles.ts"
import { runnerFailures } from "./list/runnerFailures.ts"
import { sessions } from "./list/sessions.ts"
import { standby } from "./list/standby.ts"
import { terminal } from "./list/terminal.ts"
import { turns } from "./list/turns.ts"
import { wakes } from "./list/wakes.ts"
import { type Fault, faultsOf } from "./runner/Fault.ts"

export const faults: ReadonlyArray<Fault> = faultsOf([
  ...allowlistRules,
  ...allowlistStore,
  ...authentication,
  ...client,
  ...clientRefusals,
  ...clusterCopies,
  ...commandLine,
  ...commandNames,
  ...consent,
  ...consoleShell,
  ...contracts,
  ...consoleProject,
  ...busyServers,
  ...personGroups,
  ...cpuGroups,
  ...credentials,
  ...decisions,
  ...directApi,
  ...documentation,
  ...endpointCuts,
  ...eventBroker,
  ...eventFeed,
  ...eventFrames,
  ...eventIds,
  ...eventLog,
  ...eventRing,
  ...eventRingParts,
  ...eventStream,
  ...host,
  ...instances,
  ...keys,
  ...library,
  ...lists,
  ...localProcesses,
  ...localRoles,
  ...narthex,
  ...branchQueues,
  ...operationActions,
  ...operationChanges,
  ...operationClaims,
  ...operationHints,
  ...operationRunner,
  ...operationStore,
  ...overviews,
  ...packages,
  ...people,
  ...postgresEvents,
  ...postgresStores,
  ...proxyAdmission,
  ...proxyAuthentication,
  ...proxyConnections,
  ...proxyNetworks,
  ...proxyOpening,
  ...proxyPackets,
  ...quotas,
  ...readOnlyRoles,
  ...runnerFailures,
  ...sessions,
  ...standby,
  ...terminal,
  ...turns,
  ...wakes,
  ...proxyRequests
])
