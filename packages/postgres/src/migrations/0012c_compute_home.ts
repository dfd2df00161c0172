/** The data directory that holds the local computes of this store, by its id: at most one row. */
export const computeHome = `
create table compute_home (
  one  boolean primary key default true check (one),
  home text not null
);
`
