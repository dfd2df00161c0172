import { invitationStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

invitationStoreContract("Postgres", onPostgres)
