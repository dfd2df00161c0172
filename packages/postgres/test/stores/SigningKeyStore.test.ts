import { signingKeyStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

signingKeyStoreContract("Postgres", onPostgres)
