/**
 * The computes that run on the operator's servers (`NARTHEX_COMPUTE=static`), and the number of the last call for each
 * branch (`ComputeFence`): calls with a lower one come from a runner that lost its claim.
 */
export const staticComputes = `
alter table static_compute add column fence bigint not null default 0;

create table static_compute_running (
  endpoint_id text collate "C" primary key,
  branch_id   text collate "C" not null,
  generation  bigint not null
);
create index on static_compute_running (branch_id);
`
