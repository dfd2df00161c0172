/** A consumer runs the contracts of the storage ports with the test runner of Node, over the memory layer. */
import * as runner from "node:test"
import { layerMemoryPorts } from "@narthex/core"
import { runStorageContracts } from "@narthex/core/testing"

runStorageContracts(runner, "memory", layerMemoryPorts)
