import { ComputeDoubtStore } from "../../src/projects/ComputeDoubtStore.ts"
import { computeDoubtStoreContract } from "../../testing/projects/ComputeDoubtStore.ts"
import { onMemory } from "../onMemory.ts"

computeDoubtStoreContract("memory", onMemory(ComputeDoubtStore.layerMemory))
