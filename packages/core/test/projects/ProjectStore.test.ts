import { ProjectStore } from "../../src/projects/ProjectStore.ts"
import { projectStoreContract } from "../../testing/projects/ProjectStore.ts"
import { onMemory } from "../onMemory.ts"

projectStoreContract("memory", onMemory(ProjectStore.layerMemory))
