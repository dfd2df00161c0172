/** The requirements on the server and the database of the store. Each start asks, and the operator's examination does. */
import { Data } from "effect"

export interface ServerFacts {
  /** `server_version_num`, for example 150018. */
  readonly version_number: number
  readonly version: string
  readonly encoding: string
}

/** The columns of a query that asks for them. */
export const serverFacts = `current_setting('server_version_num')::int as version_number,
  current_setting('server_version') as version, current_setting('server_encoding') as encoding`

/** The server or the database cannot be the store. The message says why, and what to do. */
export class UnfitServer extends Data.TaggedError("UnfitServer")<{ readonly message: string }> {}

const oldest = 15

/** Why it cannot be the store; `undefined`: it can. */
export const unfitness = ({ encoding, version, version_number }: ServerFacts): UnfitServer | undefined => {
  if (version_number < oldest * 10_000)
    return new UnfitServer({
      message: `it is Postgres ${version}, and Narthex needs ${oldest} or newer. Upgrade the server, or name another one.`
    })
  if (encoding !== "UTF8")
    return new UnfitServer({
      message: `the database has the encoding ${encoding}, and Narthex needs UTF8. Create another one: CREATE DATABASE narthex TEMPLATE template0 ENCODING 'UTF8'.`
    })
  return undefined
}
