/** Store layers on one `MemoryStorage`, with the transactions that cover them. */
import { Layer } from "effect"
import { EventLog } from "../src/records/events/EventLog.ts"
import { MemoryStorage } from "../src/records/memory/MemoryStorage.ts"
import { Transaction } from "../src/Transaction.ts"

export const onMemory = <A>(stores: Layer.Layer<A, never, MemoryStorage>) =>
  Layer.merge(stores, Layer.provide(Transaction.layerMemory, EventLog.layerMemory)).pipe(
    Layer.provide(MemoryStorage.layer)
  )
