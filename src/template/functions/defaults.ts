import { kindOf, typeOf } from '../values/index.ts';
import { deepEqual } from './compare.ts';
import { isEmpty } from './convert.ts';
import { define, type Library } from './function.ts';

const any = 'interface {}';

/** Sprig's functions of defaults, choices and types. */
export const defaultFunctions: Library = {
  default: define(`${any}, ...${any}`, ([fallback, value]) => (isEmpty(value) ? fallback : value)),
  empty: define(any, ([value]) => isEmpty(value)),
  coalesce: define(`...${any}`, (args) => args.find((value) => !isEmpty(value)) ?? null),
  all: define(`...${any}`, (args) => args.every((value) => !isEmpty(value))),
  any: define(`...${any}`, (args) => args.some((value) => !isEmpty(value))),
  ternary: define(`${any}, ${any}, bool`, ([yes, no, condition]) => (condition === true ? yes : no)),
  typeOf: define(any, ([value]) => typeOf(value)),
  typeIs: define(`string, ${any}`, ([type, value]) => type === typeOf(value)),
  typeIsLike: define(
    `string, ${any}`,
    ([type, value]) => type === typeOf(value) || `*${String(type)}` === typeOf(value),
  ),
  kindOf: define(any, ([value]) => kindOf(value)),
  kindIs: define(`string, ${any}`, ([kind, value]) => kind === kindOf(value)),
  deepEqual: define(`${any}, ${any}`, ([a, b], { budget }) => deepEqual(a, b, budget)),
};
