import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import { endpointStoreContract } from "../../testing/projects/EndpointStore.ts"
import { onMemory } from "../onMemory.ts"

endpointStoreContract("memory", onMemory(EndpointStore.layerMemory))
