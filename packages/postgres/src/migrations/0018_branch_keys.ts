/**
 * Which key made a branch. Earlier releases recorded only whether an agent key did, so for their branches it is null: no
 * key counts as the one that made them.
 */
export const branchKeys = `
alter table branch add column made_by_key_id text collate "C";
`
