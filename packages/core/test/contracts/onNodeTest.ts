/**
 * Runs the contracts of all storage ports on the memory layers with `node:test`, for `runners.test.ts`.
 *
 * The argument `broken` puts a store in its place that stores nothing.
 */
import * as runner from "node:test"
import { Effect, Layer } from "effect"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { runStorageContracts } from "../../testing/storageContracts.ts"

const Forgetful = Layer.effect(
  AccountStore,
  Effect.map(AccountStore, (store) => AccountStore.of({ ...store, putUser: () => Effect.succeed(true) }))
).pipe(Layer.provideMerge(layerMemoryPorts))

runStorageContracts(runner, "memory", process.argv.includes("broken") ? Forgetful : layerMemoryPorts)
