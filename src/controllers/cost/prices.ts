import { CapstanError, isJsonObject, type JsonObject, type JsonValue, parseYaml } from '../../machinery/index.ts';

/** Hourly prices of a cloud. */
export interface Prices {
  readonly currency: string;
  /** by flavor name; `*` for flavors not listed */
  readonly flavors: Readonly<Record<string, number>>;
  /** per GiB by volume type; `*` for types not listed */
  readonly volumeGiB: Readonly<Record<string, number>>;
  readonly loadBalancer: number;
  readonly floatingIP: number;
}

/** Conversion between monthly and hourly prices. */
export const hoursPerMonth = 730;

/** OVH prices from the guide; other items have no price. */
export const guidePrices: Prices = {
  currency: 'USD',
  flavors: { 'b2-7': 0.02, 'b2-15': 0.04, 'b2-30': 0.08 },
  volumeGiB: {},
  loadBalancer: 10 / hoursPerMonth,
  floatingIP: 0,
};

/** Parses a price table. Prices are hourly, or `{ perMonth: … }`. Throws a CapstanError that names the field. */
export function readPrices(text: string, source: string): Prices {
  const wrong = (problem: string): CapstanError =>
    new CapstanError('CAP_PRICES', `${source}: ${problem}`, {
      hint: 'docs/cli.md shows a price table; prices are numbers per hour, or { perMonth: 10 }',
    });
  let value: JsonValue;
  try {
    ({ value } = parseYaml(text));
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  if (!isJsonObject(value)) throw wrong('is no mapping');
  const known = ['currency', 'flavors', 'volumeGiB', 'loadBalancer', 'floatingIP'];
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw wrong(`${unknown.join(', ')} is not known; known are ${known.join(', ')}`);
  const price = (given: JsonValue | undefined, field: string): number => {
    const amount = isJsonObject(given) ? perHour(given['perMonth']) : given;
    if (typeof amount === 'number' && Number.isFinite(amount) && amount >= 0) return amount;
    throw wrong(`${field} must be a price`);
  };
  const table = (field: string): Record<string, number> => {
    const given: JsonValue = (value as JsonObject)[field] ?? {};
    if (!isJsonObject(given)) throw wrong(`${field} must be a mapping of names to prices`);
    return Object.fromEntries(Object.entries(given).map(([name, amount]) => [name, price(amount, `${field}.${name}`)]));
  };
  const { currency = 'USD', loadBalancer = 0, floatingIP = 0 } = value;
  if (typeof currency !== 'string') throw wrong('currency must be a text');
  return {
    currency,
    flavors: table('flavors'),
    volumeGiB: table('volumeGiB'),
    loadBalancer: price(loadBalancer, 'loadBalancer'),
    floatingIP: price(floatingIP, 'floatingIP'),
  };
}

const perHour = (perMonth: JsonValue | undefined): number | undefined =>
  typeof perMonth === 'number' ? perMonth / hoursPerMonth : undefined;

/** Returns the price of a name, or the `*` price; undefined if there is neither. */
export function priceOf(table: Readonly<Record<string, number>>, name: string): number | undefined {
  if (Object.hasOwn(table, name)) return table[name];
  return Object.hasOwn(table, '*') ? table['*'] : undefined;
}
