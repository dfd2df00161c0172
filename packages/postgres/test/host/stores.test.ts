/** The contracts of all storage ports, on the connections of a host's driver. */
import { runContract, storageContracts } from "@narthex/core/testing"
import * as vitest from "vitest"
import { long } from "../../../../test/harness/long.ts"
import { hosts } from "./hosts.ts"
import { onHost } from "./onHost.ts"

const drivers = [hosts.nodePostgres, hosts.postgresJs]

/** In the long form each contract runs on both drivers; in the short form every second one on one of them, by the seed. */
const chosen = Math.floor(Math.random() * 4)

for (const [number, contract] of storageContracts.entries())
  for (const [at, kind] of drivers.entries())
    if (long || (number * 2 + at) % 4 === chosen)
      runContract(vitest, contract, `a transaction of ${kind.name}`, onHost(kind))
