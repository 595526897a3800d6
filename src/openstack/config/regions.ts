import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { settingText } from './merge.ts';

export interface Region {
  readonly name: string;
  /** settings for this region only */
  readonly values: JsonObject;
}

export interface InvalidRegion {
  /** index in the list; the content is omitted because it may hold secrets */
  readonly invalid: number;
}

/**
 * Lists the regions of a cloud: `regions`, else `region_name` (a list, or text with commas), else those of its profile.
 * Returns the index of an invalid entry instead, if there is one.
 */
export function knownRegions(own: JsonObject, profile: JsonObject): Region[] | InvalidRegion {
  const listed = own['regions'];
  if (Array.isArray(listed)) return expand(listed);
  const named = own['region_name'] ?? own['region-name'];
  if (Array.isArray(named)) return expand(named);
  const text = settingText(named);
  if (text !== undefined && text !== '') return expand(text.split(','));
  if (Array.isArray(profile['regions'])) return expand(profile['regions']);
  const inherited = settingText(profile['region_name']);
  return inherited === undefined || inherited === '' ? [] : expand([inherited]);
}

function expand(entries: readonly JsonValue[]): Region[] | InvalidRegion {
  const regions: Region[] = [];
  for (const [index, entry] of entries.entries()) {
    const region = expandOne(entry);
    if (!region) return { invalid: index };
    regions.push(region);
  }
  return regions;
}

function expandOne(entry: JsonValue): Region | undefined {
  const plain = settingText(entry);
  if (plain !== undefined) return { name: plain, values: {} };
  if (!isJsonObject(entry)) return undefined;
  const name = settingText(entry['name']);
  const values = entry['values'] ?? {};
  if (name === undefined || !isJsonObject(values)) return undefined;
  return Object.keys(entry).every((key) => key === 'name' || key === 'values') ? { name, values } : undefined;
}
