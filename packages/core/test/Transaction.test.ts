import * as vitest from "vitest"
import { AccountStore } from "../src/records/accounts/AccountStore.ts"
import { runContract } from "../testing/contract.ts"
import { transactionContract } from "../testing/Transaction.ts"
import { onMemory } from "./onMemory.ts"

runContract(vitest, transactionContract, "memory", onMemory(AccountStore.layerMemory))
