import { Layer } from "effect"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { CredentialStore } from "../../src/guard/CredentialStore.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { SessionStore } from "../../src/sessions/SessionStore.ts"
import { credentialStoreContract } from "../../testing/guard/CredentialStore.ts"
import { onMemory } from "../onMemory.ts"

credentialStoreContract(
  "memory",
  onMemory(
    Layer.provideMerge(
      CredentialStore.layerMemory,
      Layer.mergeAll(AccountStore.layerMemory, ApiKeyStore.layerMemory, SessionStore.layerMemory)
    )
  )
)
