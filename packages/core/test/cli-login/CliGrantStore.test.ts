import { CliGrantStore } from "../../src/cli-login/CliGrantStore.ts"
import { cliGrantStoreContract } from "../../testing/cli-login/CliGrantStore.ts"
import { onMemory } from "../onMemory.ts"

cliGrantStoreContract("memory", onMemory(CliGrantStore.layerMemory))
