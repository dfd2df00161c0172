import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { accountStoreContract } from "../../testing/accounts/AccountStore.ts"
import { runContract } from "../../testing/contract.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  accountStoreContract,
  "memory",
  onMemory(Layer.merge(AccountStore.layerMemory, InvitationStore.layerMemory))
)
