import { formatFoldedYaml } from '../../machinery/index.ts';
import {
  compareStrings,
  GoBytes,
  type GoMethod,
  stringList,
  type Value,
  type ValueMap,
  withElements,
  withMethods,
  withTypeName,
} from '../values/index.ts';
import { FileGlob } from './file-glob.ts';

/** Builds `.Files`: the chart's files that are neither templates nor subcharts. */
export function filesObject(files: ReadonlyMap<string, Uint8Array>): Value {
  const values: ValueMap = new Map();
  for (const [path, bytes] of files) values.set(path, new GoBytes(bytes));
  return withMethods(methods(files), withTypeName('engine.files', withElements('[]uint8', values)));
}

const textOf = (bytes: Uint8Array | undefined): string => (bytes ? Buffer.from(bytes).toString('utf8') : '');

function methods(files: ReadonlyMap<string, Uint8Array>): Readonly<Record<string, GoMethod>> {
  const ofPath = (read: (path: string) => Value): GoMethod => ({
    parameters: ['string'],
    call: ([path]) => read(typeof path === 'string' ? path : ''),
  });
  return {
    Get: ofPath((path) => textOf(files.get(path))),
    GetBytes: ofPath((path) => new GoBytes(files.get(path) ?? new Uint8Array())),
    Lines: ofPath((path) => {
      const bytes = files.get(path);
      return stringList(bytes && bytes.length > 0 ? textOf(bytes).replace(/\n$/, '').split('\n') : []);
    }),
    Glob: ofPath((pattern) => {
      const glob = new FileGlob(pattern);
      return filesObject(new Map([...files].filter(([path]) => glob.matches(path))));
    }),
    AsConfig: { parameters: [], call: () => asMapping(files, textOf) },
    AsSecrets: { parameters: [], call: () => asMapping(files, (bytes) => Buffer.from(bytes).toString('base64')) },
  };
}

/** Renders files by base name as YAML. */
function asMapping(files: ReadonlyMap<string, Uint8Array>, show: (bytes: Uint8Array) => string): string {
  const entries = [...files]
    .map(([path, bytes]): [string, string] => [path.slice(path.lastIndexOf('/') + 1), show(bytes)])
    .sort(([a], [b]) => compareStrings(a, b));
  return formatFoldedYaml(Object.fromEntries(entries), 80).replace(/\n$/, '');
}
