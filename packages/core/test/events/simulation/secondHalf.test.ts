import { simulationSuite } from "./simulationSuite.ts"

simulationSuite(2, 2)
