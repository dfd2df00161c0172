import { branchRoleStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

branchRoleStoreContract("Postgres", onPostgres)
