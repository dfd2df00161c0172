import { regionCatalogContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

regionCatalogContract("Postgres", onPostgres)
