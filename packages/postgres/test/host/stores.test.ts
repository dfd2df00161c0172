/** The contracts of all storage ports, on the connections of a host's driver. */
import { runContract, storageContracts } from "@narthex/core/testing"
import * as vitest from "vitest"
import { long } from "../../../../test/harness/long.ts"
import { hosts } from "./hosts.ts"
import { onHost } from "./onHost.ts"

const drivers = [hosts.nodePostgres, hosts.postgresJs]

// Each contract on one of the drivers, and in the long form on both.
for (const [number, contract] of storageContracts.entries())
  for (const kind of long ? drivers : drivers.slice(number % 2, (number % 2) + 1))
    runContract(vitest, contract, `a transaction of ${kind.name}`, onHost(kind))
