/** How the compute of an endpoint is reached, in addition to its address. A runner records it for computes that run. */
export const computeReach = `
alter table endpoint add column reach jsonb;
`
