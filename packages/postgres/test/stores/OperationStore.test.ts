import { operationClaimsContract, operationStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

operationStoreContract("Postgres", onPostgres)
operationClaimsContract("Postgres", onPostgres)
