import { must } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { dateFunctions } from './dates.ts';
import { defaultFunctions } from './defaults.ts';
import { dictFunctions } from './dicts.ts';
import { encodingFunctions } from './encoding.ts';
import { formatFunctions } from './formats.ts';
import { define, type Library, text } from './function.ts';
import { keyFunctions } from './keys.ts';
import { listFunctions } from './lists.ts';
import { mathFunctions } from './math.ts';
import { pathFunctions } from './paths.ts';
import { randomFunctions } from './random.ts';
import { regexpFunctions } from './regexps.ts';
import { stringFunctions } from './strings.ts';
import { urlFunctions } from './urls.ts';
import { versionFunctions } from './versions.ts';

const fail = define('string', ([message]) => {
  throw new FunctionError(text(message), text(message));
});

/**
 * Sprig's functions without access to the environment. Those for keys and certificates need the caller's
 * implementation.
 */
export const sprigFunctions: Library = {
  ...stringFunctions,
  ...listFunctions,
  ...dictFunctions,
  ...mathFunctions,
  ...defaultFunctions,
  ...encodingFunctions,
  ...regexpFunctions,
  ...dateFunctions,
  ...pathFunctions,
  ...urlFunctions,
  ...versionFunctions,
  ...randomFunctions,
  ...keyFunctions,
  ...pick(formatFunctions, [
    'toJson',
    'toPrettyJson',
    'toRawJson',
    'mustToJson',
    'mustToPrettyJson',
    'mustToRawJson',
    'mustFromJson',
  ]),
  // Sprig's own version decodes any value; Helm's version, used for charts, only dicts.
  fromJson: define('string', (args, context) => {
    try {
      return must(formatFunctions['mustFromJson'], 'mustFromJson').call(args, context);
    } catch (error) {
      if (error instanceof FunctionError) return null;
      throw error;
    }
  }),
  fail,
};

/** Functions whose output differs between runs. */
const notHermetic: readonly string[] = [
  'now',
  'date',
  'dateInZone',
  'date_in_zone',
  'dateModify',
  'date_modify',
  'htmlDate',
  'htmlDateInZone',
  'randAlphaNum',
  'randAlpha',
  'randAscii',
  'randNumeric',
  'randBytes',
  'uuidv4',
];

/** Sprig's hermetic functions, for ClusterClass patches. */
export const hermeticFunctions: Library = Object.fromEntries(
  Object.entries(sprigFunctions).filter(([name]) => !notHermetic.includes(name)),
);

function pick(library: Library, names: readonly string[]): Library {
  return Object.fromEntries(names.map((name) => [name, must(library[name], name)]));
}
