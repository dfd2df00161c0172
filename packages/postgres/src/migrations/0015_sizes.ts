/**
 * The size of an endpoint, with its numbers, and whether a running compute has a former one. Endpoints that were made before
 * have none. Instances of an earlier version leave both alone.
 */
export const sizes = `
alter table endpoint add column size jsonb;
alter table endpoint add column resized boolean not null default false;
`
