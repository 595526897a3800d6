import type { Command } from 'commander';
import { type CompletionPoint, parseLine } from './parse-line.ts';

/** Makes the shell complete file names. */
export const files = ':files';

/** Completion values that must be looked up. */
export interface LiveValues {
  clusters(point: CompletionPoint): Promise<readonly string[]>;
  namespaces(point: CompletionPoint): Promise<readonly string[]>;
  contexts(point: CompletionPoint): Promise<readonly string[]>;
  clouds(): Promise<readonly string[]>;
}

type Source = (live: LiveValues, point: CompletionPoint) => Promise<readonly string[]>;

const ofOptions: Readonly<Record<string, Source>> = {
  '--namespace': (live, point) => live.namespaces(point),
  '--context': (live, point) => live.contexts(point),
  '--cloud': (live) => live.clouds(),
};

/** Arguments that are cluster names; for `delete` only after the kind. */
const clusterArguments: Readonly<Record<string, (argument: number) => boolean>> = {
  'get kubeconfig': (argument) => argument === 0,
  'describe cluster': (argument) => argument === 0,
  'scale cluster': (argument) => argument === 0,
  'upgrade cluster': (argument) => argument === 0,
  'set variable': (argument) => argument === 0,
  delete: (argument) => argument > 0,
};

/** Returns the candidates at the cursor, or the marker for files. */
export async function candidates(
  program: Command,
  line: readonly string[],
  live: LiveValues,
): Promise<readonly string[]> {
  const point = parseLine(program, line);
  const { partial, option } = point;
  const found = option ? await valuesOf(point, live) : await wordsOf(program, point, live);
  if (found === files) return [files];
  const matching = [...new Set(found)].filter((word) => word.startsWith(partial));
  const isAssigned = option !== undefined && (line.at(-1) ?? '').startsWith(`${option.long}=`);
  // A shell that did not split the word at `=` expects the whole word back.
  return isAssigned ? matching.map((word) => `${option.long}=${word}`) : orFiles(matching, point);
}

/** Suggests files for words that look like a path and match nothing else. */
function orFiles(matching: readonly string[], { partial }: CompletionPoint): readonly string[] {
  return matching.length === 0 && !partial.startsWith('-') && /[./~]/.test(partial) ? [files] : matching;
}

async function valuesOf(point: CompletionPoint, live: LiveValues): Promise<readonly string[] | typeof files> {
  const { option } = point;
  if (option?.argChoices) return option.argChoices;
  const source = ofOptions[option?.long ?? ''];
  if (source) return await source(live, point);
  return /<(?:file|dir)>/.test(option?.flags ?? '') ? files : [];
}

async function wordsOf(
  program: Command,
  point: CompletionPoint,
  live: LiveValues,
): Promise<readonly string[] | typeof files> {
  const { command, partial, argument } = point;
  if (partial.startsWith('-')) {
    const options = [...command.options, ...program.options].filter(({ hidden }) => !hidden);
    return [...options.map(({ long, short }) => long ?? short ?? ''), '--help'];
  }
  const path = pathOf(command);
  if (clusterArguments[path]?.(argument)) {
    const named = new Set(point.arguments);
    return (await live.clusters(point)).filter((name) => !named.has(name));
  }
  const declared = command.registeredArguments[argument];
  if (declared?.argChoices) return declared.argChoices;
  if (declared?.name() === 'file') return files;
  if (argument > 0) return [];
  return command.commands.filter((child) => !child.name().startsWith('__')).map((child) => child.name());
}

function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}
