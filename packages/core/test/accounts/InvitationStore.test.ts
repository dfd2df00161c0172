import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { invitationStoreContract } from "../../testing/accounts/InvitationStore.ts"
import { runContract } from "../../testing/contract.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  invitationStoreContract,
  "memory",
  onMemory(Layer.merge(AccountStore.layerMemory, InvitationStore.layerMemory))
)
