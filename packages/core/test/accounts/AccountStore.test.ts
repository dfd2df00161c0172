import { Layer } from "effect"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { accountStoreContract } from "../../testing/accounts/AccountStore.ts"
import { onMemory } from "../onMemory.ts"

accountStoreContract("memory", onMemory(Layer.merge(AccountStore.layerMemory, InvitationStore.layerMemory)))
