import * as vitest from "vitest"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { runContract } from "../../testing/contract.ts"
import { projectStoreContract } from "../../testing/projects/ProjectStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, projectStoreContract, "memory", onMemory(ProjectStore.layerMemory))
