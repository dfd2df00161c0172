import { SigningKeyStore } from "../../src/sessions/SigningKeyStore.ts"
import { signingKeyStoreContract } from "../../testing/sessions/SigningKeyStore.ts"
import { onMemory } from "../onMemory.ts"

signingKeyStoreContract("memory", onMemory(SigningKeyStore.layerMemory))
