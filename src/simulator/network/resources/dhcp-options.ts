import { pythonText } from '../../core/checks/python.ts';
import { type Check, isDictionary } from '../attributes/checks.ts';
import { invalidInput } from '../refusals.ts';

/** Checks DHCP options of a port: a name, a value (null removes it), an IP version. */
export const extraDhcpOptions: Check = (value) => {
  if (value === null) return undefined;
  if (!Array.isArray(value)) throw invalidInput(`'${pythonText(value)}' is not a list`);
  for (const option of value) {
    if (!isOption(option)) throw invalidInput(`No valid key specs matched for: ${pythonText(option)}`);
  }
  return undefined;
};

function isOption(option: unknown): boolean {
  if (!isDictionary(option)) return false;
  const { opt_name: name, opt_value: value, ip_version: version = 4, ...rest } = option;
  if (Object.keys(rest).length > 0 || typeof name !== 'string' || name.trim() === '' || name.length > 64) return false;
  if (![4, 6, '4', '6'].includes(version as number)) return false;
  return value === null || (typeof value === 'string' && value.trim() !== '' && value.length <= 255);
}
