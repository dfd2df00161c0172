import { eventLogContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

eventLogContract("Postgres", onPostgres)
