import { SessionStore } from "../../src/sessions/SessionStore.ts"
import { sessionStoreContract } from "../../testing/sessions/SessionStore.ts"
import { onMemory } from "../onMemory.ts"

sessionStoreContract("memory", onMemory(SessionStore.layerMemory))
