import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { CredentialStore } from "../../src/guard/CredentialStore.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { SessionStore } from "../../src/sessions/SessionStore.ts"
import { runContract } from "../../testing/contract.ts"
import { credentialStoreContract } from "../../testing/guard/CredentialStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  credentialStoreContract,
  "memory",
  onMemory(
    Layer.provideMerge(
      CredentialStore.layerMemory,
      Layer.mergeAll(AccountStore.layerMemory, ApiKeyStore.layerMemory, SessionStore.layerMemory)
    )
  )
)
