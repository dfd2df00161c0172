import { quotaStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

quotaStoreContract("Postgres", onPostgres)
