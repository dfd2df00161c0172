import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { invitationStoreContract } from "../../testing/accounts/InvitationStore.ts"
import { onMemory } from "../onMemory.ts"

invitationStoreContract("memory", onMemory(InvitationStore.layerMemory))
