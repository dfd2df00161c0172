/** The contracts of all ports, on the connections of a host's driver. */
import {
  accountStoreContract,
  apiKeyStoreContract,
  branchRoleStoreContract,
  branchStoreContract,
  cliGrantStoreContract,
  computeDoubtStoreContract,
  credentialStoreContract,
  endedRecordStoreContract,
  endpointStoreContract,
  eventLogContract,
  idempotencyStoreContract,
  invitationStoreContract,
  ipAllowlistStoreContract,
  operationClaimsContract,
  operationStoreContract,
  projectStoreContract,
  quotaStoreContract,
  rateLimiterContract,
  regionCatalogContract,
  sessionStoreContract,
  signingKeyStoreContract
} from "@narthex/core/testing"
import { long } from "../../../../test/harness/long.ts"
import { hosts } from "./hosts.ts"
import { onHost } from "./onHost.ts"

const drivers = [hosts.nodePostgres, hosts.postgresJs]
const layers = new Map(drivers.map((kind) => [kind, onHost(kind)]))

const contracts = [
  accountStoreContract,
  apiKeyStoreContract,
  branchRoleStoreContract,
  branchStoreContract,
  cliGrantStoreContract,
  computeDoubtStoreContract,
  credentialStoreContract,
  endedRecordStoreContract,
  endpointStoreContract,
  eventLogContract,
  idempotencyStoreContract,
  invitationStoreContract,
  ipAllowlistStoreContract,
  operationClaimsContract,
  operationStoreContract,
  projectStoreContract,
  quotaStoreContract,
  rateLimiterContract,
  regionCatalogContract,
  sessionStoreContract,
  signingKeyStoreContract
]

// Each contract on one of the drivers, and in the long form on both.
for (const [number, contract] of contracts.entries())
  for (const kind of long ? drivers : drivers.slice(number % 2, (number % 2) + 1))
    contract(`a transaction of ${kind.name}`, layers.get(kind) ?? onHost(kind))
