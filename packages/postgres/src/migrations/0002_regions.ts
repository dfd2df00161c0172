/** Regions that projects can be in. */
export const regions = `
create table region (
  region_id text collate "C" primary key,
  name      text not null,
  "default" boolean not null,
  geo_lat   double precision not null,
  geo_long  double precision not null,
  location  text,
  active    boolean not null,
  position  integer not null                      -- order of addition
);
create unique index region_one_default on region ("default") where "default";
`
