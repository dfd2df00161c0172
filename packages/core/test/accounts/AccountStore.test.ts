import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { accountStoreContract } from "../../testing/accounts/AccountStore.ts"
import { runContract } from "../../testing/contract.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  accountStoreContract,
  "memory",
  onMemory(Layer.merge(AccountStore.layerMemory, InvitationStore.layerMemory))
)
