import * as vitest from "vitest"
import { SigningKeyStore } from "../../src/records/sessions/SigningKeyStore.ts"
import { runContract } from "../../testing/contract.ts"
import { signingKeyStoreContract } from "../../testing/sessions/SigningKeyStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, signingKeyStoreContract, "memory", onMemory(SigningKeyStore.layerMemory))
