/** Names and values of one thing. */
import type { ComponentChildren } from "preact"

export const Facts = ({
  items
}: {
  readonly items: ReadonlyArray<readonly [name: string, value: ComponentChildren]>
}) => (
  <dl class="facts">
    {items.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
