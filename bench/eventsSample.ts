/** An event in the form in which operations emit it, and the envelope that a client receives: about 500 bytes. */
export const sampleType = "operation.updated.v1"
export const sampleSource = "operations"

export const sampleData = (n: number) => ({
  operation_id: `op-01k3z6v9e8q0x5m4c2b7n1r0sd-${n}`,
  action: "start_compute",
  status: "finished",
  branch_id: "br-01k3z6v9e8q0x5m4c2b7n1r0sd",
  endpoint_id: "ep-01k3z6v9e8q0x5m4c2b7n1r0sd",
  initiator: { type: "user", id: "0192f0c1-2d3e-7abc-8def-0123456789ab", name: "ada@example.com" }
})

export const sampleEnvelope = (n: number) => ({
  id: `01K3Z6V9E8Q0X5M4C2${String(n).padStart(8, "0")}`,
  type: sampleType,
  source: sampleSource,
  org_id: "0192f0c1-2d3e-7abc-8def-0123456789ab",
  region_id: "local",
  at: "2026-03-04T05:06:07.089Z",
  data: sampleData(n)
})
