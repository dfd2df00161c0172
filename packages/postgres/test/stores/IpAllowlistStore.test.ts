import { ipAllowlistStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

ipAllowlistStoreContract("Postgres", onPostgres)
