/** Notes of projects (docs/design/api.md, Objects). */
export const projectNotes = `
alter table project add column note text;
`
