import { readFile } from 'node:fs/promises';
import { guidePrices, type Prices, readPrices } from '../controllers/index.ts';
import { CapstanError, errorMessage } from '../machinery/index.ts';

/** Reads the user's price table, by default the one of the guide. */
export async function loadPrices(file: string | undefined): Promise<Prices> {
  if (file === undefined) return guidePrices;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `--prices: ${file} cannot be read: ${errorMessage(cause)}`, { cause });
  }
  return readPrices(text, file);
}
