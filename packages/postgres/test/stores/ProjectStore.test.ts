import { projectStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

projectStoreContract("Postgres", onPostgres)
