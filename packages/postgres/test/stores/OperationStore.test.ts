import {
  operationClaimsContract,
  operationQueuesContract,
  operationStoreContract,
  runContract
} from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, operationStoreContract, "Postgres", onPostgres)
runContract(vitest, operationClaimsContract, "Postgres", onPostgres)
runContract(vitest, operationQueuesContract, "Postgres", onPostgres)
