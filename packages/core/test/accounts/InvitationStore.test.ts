import { Layer } from "effect"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { invitationStoreContract } from "../../testing/accounts/InvitationStore.ts"
import { onMemory } from "../onMemory.ts"

invitationStoreContract("memory", onMemory(Layer.merge(AccountStore.layerMemory, InvitationStore.layerMemory)))
