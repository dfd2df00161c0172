import { credentialStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

credentialStoreContract("Postgres", onPostgres)
