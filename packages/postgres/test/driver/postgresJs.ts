/** The alternative driver, `postgres` (postgres.js), with its options from `NARTHEX_TEST_DRIVER_OPTIONS` (JSON). */
import postgres from "postgres"
import { connections, type Driver } from "./Driver.ts"

const options = JSON.parse(process.env["NARTHEX_TEST_DRIVER_OPTIONS"] ?? "{}") as postgres.Options<{}>

export const driver = (url: string): Driver => {
  const { pathname, searchParams, hostname, port, username } = new URL(url)
  const sql = postgres({
    host: searchParams.get("host") ?? hostname,
    port: Number(port || 5432),
    database: pathname.slice(1),
    user: searchParams.get("user") ?? username,
    max: connections,
    connection: { application_name: "narthex-load" },
    ...options
  })
  return {
    query: (text, params) => sql.unsafe(text, [...params], { prepare: options.prepare ?? true }),
    transaction: (texts) =>
      sql.begin(async (transaction) => {
        for (const text of texts) await transaction.unsafe(text)
      }),
    listen: (channel, heard) => sql.listen(channel, heard)
  }
}
