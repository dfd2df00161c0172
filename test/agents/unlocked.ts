/** The statement by which a read-only session takes back its setting: only grants keep a reader from writing. */
export const unlocked = "SET default_transaction_read_only = off"
