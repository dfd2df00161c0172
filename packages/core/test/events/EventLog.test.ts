import { Layer } from "effect"
import { EventLog } from "../../src/events/EventLog.ts"
import { MemoryStorage } from "../../src/memory/MemoryStorage.ts"
import { Transaction } from "../../src/Transaction.ts"
import { eventLogContract } from "../../testing/events/eventLogContract.ts"

eventLogContract(
  "memory",
  Transaction.layerMemory.pipe(Layer.provideMerge(EventLog.layerMemory), Layer.provide(MemoryStorage.layer))
)
