import { Layer } from "effect"
import * as vitest from "vitest"
import { CredentialStore } from "../../src/records/access/CredentialStore.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { SessionStore } from "../../src/records/sessions/SessionStore.ts"
import { credentialStoreContract } from "../../testing/access/CredentialStore.ts"
import { runContract } from "../../testing/contract.ts"
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
