import { operationStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

operationStoreContract("Postgres", onPostgres)
