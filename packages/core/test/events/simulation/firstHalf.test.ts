import { simulationSuite } from "./simulationSuite.ts"

simulationSuite(1, 2)
