import { branchDiskContract, quotaStoreContract, runContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, quotaStoreContract, "Postgres", onPostgres)
runContract(vitest, branchDiskContract, "Postgres", onPostgres)
