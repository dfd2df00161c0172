import { branchRoleStoreContract, runContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, branchRoleStoreContract, "Postgres", onPostgres)
