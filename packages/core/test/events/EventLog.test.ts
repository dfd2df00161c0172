import { Layer } from "effect"
import * as vitest from "vitest"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { MemoryStorage } from "../../src/records/memory/MemoryStorage.ts"
import { Transaction } from "../../src/Transaction.ts"
import { runContract } from "../../testing/contract.ts"
import { eventLogContract } from "../../testing/events/eventLogContract.ts"

runContract(
  vitest,
  eventLogContract,
  "memory",
  Transaction.layerMemory.pipe(Layer.provideMerge(EventLog.layerMemory), Layer.provide(MemoryStorage.layer))
)
