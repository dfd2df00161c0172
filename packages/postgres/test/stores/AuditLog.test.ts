import { auditLogContract, runContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, auditLogContract, "Postgres", onPostgres)
