import type { Check } from './checks.ts';
import type { Convert } from './converters.ts';

/** Permitted uses of an attribute, as in neutron's attribute maps. */
export interface Attribute {
  /** allowed on creation; if absent the default applies, unless it is `required` or `optional` */
  readonly create?: boolean;
  readonly update?: boolean;
  readonly default?: unknown;
  readonly required?: boolean;
  readonly convert?: Convert;
  readonly check?: Check;
  readonly filter?: boolean;
  /** for filters that are converted differently than bodies */
  readonly convertFilter?: Convert;
  readonly sort?: boolean;
  /** has a policy rule of its own, which refusals name whenever the attribute is given */
  readonly ruled?: boolean;
  /** a dictionary whose keys have policy rules too, as list items always have */
  readonly hasRuledParts?: boolean;
}

/** In the order neutron validates them. The order decides which of several errors is reported. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** A converted body. Absent attributes were neither given nor have a default. */
export type Values = Record<string, unknown>;
