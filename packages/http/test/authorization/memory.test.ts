import { layerMemoryPorts } from "@narthex/core"
import { authorizationSuite } from "./authorizationSuite.ts"

authorizationSuite("memory", layerMemoryPorts)
