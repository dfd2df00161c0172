import * as vitest from "vitest"
import { SessionStore } from "../../src/records/sessions/SessionStore.ts"
import { runContract } from "../../testing/contract.ts"
import { sessionStoreContract } from "../../testing/sessions/SessionStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, sessionStoreContract, "memory", onMemory(SessionStore.layerMemory))
