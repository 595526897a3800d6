import type { Check } from './checks.ts';
import type { Convert } from './converters.ts';

/** What may be done with an attribute of a resource, as neutron's attribute maps say it. */
export interface Attribute {
  /** may be given on creation; a value stands in when it is absent, unless it is `required` or `optional` */
  readonly create?: boolean;
  readonly update?: boolean;
  readonly default?: unknown;
  readonly required?: boolean;
  readonly convert?: Convert;
  readonly check?: Check;
  readonly filter?: boolean;
  /** when a filter is read otherwise than a body */
  readonly convertFilter?: Convert;
  readonly sort?: boolean;
  /** has a rule of its own in the policy; named in refusals whenever it is given */
  readonly ruled?: boolean;
  /** a dictionary whose parts have rules too, as those of lists always have */
  readonly hasRuledParts?: boolean;
}

/** In the order neutron looks at them, which decides what a body with several faults is refused for. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** A converted body: what is absent was neither given nor has a default. */
export type Values = Record<string, unknown>;
