/** The roles that minted roles belong to, and pieces of SQL about them. */

export const writers = "narthex_writer"
export const readers = "narthex_reader"

/** The role that sessions of writers have. Each server from Postgres 14 on has it, so a dump can name it. */
export const owners = "pg_database_owner"

/** The role of the session. `current_user::regrole` would read the name as SQL does, and fail for one with upper case. */
export const currentRole = "(SELECT oid FROM pg_roles WHERE rolname = current_user)"

/** On a compute everything that is not the supervisor's belongs to users. */
export const isUsers = (owner: string) => `${owner} <> ${currentRole}`

/** Objects of Postgres itself have lower oids. The comparison is cheap and spares the others on thousands of rows. */
export const firstOid = 16_384

/** Schemas whose objects belong to users. */
export const isUserSchema = "nspname !~ '^pg_' AND nspname <> 'information_schema'"
