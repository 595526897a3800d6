import { FunctionError } from '../errors.ts';
import { formatFunctions } from './formats.ts';
import { define, type Library, text } from './function.ts';
import { sprigFunctions } from './sprig.ts';

const any = 'interface {}';

/** Go's text for a missing value, which Helm removes. */
const noValue = '<no value>';

/**
 * Functions of chart templates. `lookup` finds nothing unless the caller provides one with a cluster, as in `helm
 * template`. DNS names are not resolved.
 */
export const chartFunctions: Library = {
  ...sprigFunctions,
  ...formatFunctions,
  include: define(`string, ${any}`, ([name, data], { include }) => include(text(name), data)),
  tpl: define(`string, ${any}`, ([source, data], { renderText }) =>
    renderText(text(source), data).replaceAll(noValue, ''),
  ),
  required: define(`string, ${any}`, ([message, value]) => {
    if (value === undefined || value === null || value === '') throw new FunctionError(text(message), text(message));
    return value;
  }),
  fail: define('string', ([message]) => {
    throw new FunctionError(text(message), text(message));
  }),
  lookup: define('string, string, string, string', () => new Map()),
  getHostByName: define('string', () => ''),
};
