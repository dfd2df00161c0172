/** How the compute of an endpoint is reached, in addition to its address. Rows of before are reached over a Unix socket. */
export const computeReach = `
alter table endpoint add column reach jsonb;
`
