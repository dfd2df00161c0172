/** Whether an operation of a class is due: a claim looks there before it waits for the other claims of the class. */
export const dueOperations = `
create index operation_head_soonest on operation_head (class, due_at);
`
