import { branchStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

branchStoreContract("Postgres", onPostgres)
