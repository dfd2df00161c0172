import * as vitest from "vitest"
import { CliGrantStore } from "../../src/records/cli-login/CliGrantStore.ts"
import { cliGrantStoreContract } from "../../testing/cli-login/CliGrantStore.ts"
import { runContract } from "../../testing/contract.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, cliGrantStoreContract, "memory", onMemory(CliGrantStore.layerMemory))
