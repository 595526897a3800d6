import { FunctionError } from '../errors.ts';
import { int } from '../values/index.ts';
import { define, type Library, type TemplateFunction, text, whole } from './function.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const printable = Array.from({ length: 95 }, (_none, index) => String.fromCharCode(32 + index)).join('');

const characters = (alphabet: string): TemplateFunction =>
  define('int', ([count], { budget, random }) => {
    budget.reserve(whole(count));
    budget.spend(Math.max(0, whole(count)));
    return whole(count) <= 0 ? '' : random.text(whole(count), alphabet);
  });

/** Sprig's random functions, with the caller's random source. */
export const randomFunctions: Library = {
  randAlphaNum: characters(letters + digits),
  randAlpha: characters(letters),
  randNumeric: characters(digits),
  randAscii: characters(printable),
  randInt: define('int, int', ([low, high], { random }) => {
    const range = whole(high) - whole(low);
    if (range <= 0) throw new FunctionError('invalid argument to Intn');
    return int(whole(low) + Math.floor(random.next() * range));
  }),
  randBytes: define('int', ([count], { budget, random }) => {
    budget.reserve(whole(count) * 2);
    const bytes = Array.from({ length: Math.max(0, whole(count)) }, () => Math.floor(random.next() * 256));
    return Buffer.from(bytes).toString('base64');
  }),
  uuidv4: define('', (_args, { random }) => random.uuid()),
  shuffle: define('string', ([s], { budget, random }) => {
    const runes = [...text(s)];
    budget.spend(runes.length);
    for (let i = runes.length - 1; i > 0; i--) {
      const other = Math.floor(random.next() * (i + 1));
      [runes[i], runes[other]] = [runes[other] ?? '', runes[i] ?? ''];
    }
    return runes.join('');
  }),
};
