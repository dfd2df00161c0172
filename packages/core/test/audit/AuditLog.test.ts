import * as vitest from "vitest"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { auditLogContract } from "../../testing/audit/AuditLog.ts"
import { runContract } from "../../testing/contract.ts"

runContract(vitest, auditLogContract, "memory", layerMemoryPorts)
