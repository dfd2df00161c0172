import { accountStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

accountStoreContract("Postgres", onPostgres)
