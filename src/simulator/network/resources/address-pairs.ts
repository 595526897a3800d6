import { pythonText } from '../../core/checks/python.ts';
import { parseCidr } from '../addressing/cidr.ts';
import type { Values } from '../attributes/attribute.ts';
import { type Check, isDictionary, mac } from '../attributes/checks.ts';
import { badBody, refuse } from '../refusals.ts';

const maxPairs = 100;

/** Checks allowed address pairs. Some errors have a type of their own and are thrown. */
export const addressPairs: Check = (value) => {
  if (!Array.isArray(value)) throw badBody('Allowed address pairs must be a list.');
  if (value.length > maxPairs) {
    const message = `The number of allowed address pair exceeds the maximum ${maxPairs}.`;
    throw refuse(400, 'AllowedAddressPairExhausted', message);
  }
  const seen = new Set<string>();
  for (const pair of value) {
    if (!isDictionary(pair)) return `'${pythonText(pair)}' is not a dictionary`;
    if (!('ip_address' in pair)) {
      throw refuse(400, 'AllowedAddressPairsMissingIP', 'AllowedAddressPair must contain ip_address');
    }
    const { ip_address: address, mac_address: macAddress, ...rest } = pair;
    if (macAddress !== undefined) {
      const reason = mac(macAddress);
      if (reason !== undefined) throw badBody(reason);
    }
    const key = `${macAddress} ${address}`;
    if (seen.has(key)) {
      const message = `Request contains duplicate address pair: mac_address ${pythonText(macAddress)} ip_address ${pythonText(address)}.`;
      throw refuse(400, 'DuplicateAddressPairInRequest', message);
    }
    seen.add(key);
    if (Object.keys(rest).length > 0) throw badBody(`Unrecognized attribute(s) '${Object.keys(rest).join(', ')}'`);
    if (typeof address !== 'string' || !parseCidr(address)) {
      const kind = typeof address === 'string' && address.includes('/') ? 'subnet' : 'address';
      throw badBody(`'${pythonText(address)}' is not a valid IP ${kind}`);
    }
  }
  return undefined;
};

export function readPairs(values: Values): { ip_address: string; mac_address?: string }[] | undefined {
  return values['allowed_address_pairs'] as { ip_address: string; mac_address?: string }[] | undefined;
}
