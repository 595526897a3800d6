import { parseAllDocuments } from 'yaml';
import { asTyped, errorMessage, isJsonObject, type KubeObject } from '../../../machinery/index.ts';
import type { SimulatedProcess } from '../../process.ts';
import { applyObject, type ObjectWriter } from './objects.ts';

const directory = '/var/lib/k0s/manifests/';

/** Applies all stacks below the manifest directory, each in the order of its files. Logs errors. */
export async function applyManifests(
  process: SimulatedProcess,
  writer: ObjectWriter,
  applied: Map<string, string>,
): Promise<void> {
  const { files } = process;
  for (const path of files.list(directory)) {
    if (!/\.ya?ml$/.test(path) || path.includes('/..')) continue;
    const text = files.read(path) ?? '';
    if (applied.get(path) === text) continue;
    try {
      for (const document of parseAllDocuments(text)) {
        const object: unknown = document.toJS();
        if (isJsonObject(object) && object['kind'] !== undefined)
          await applyObject(writer, asTyped<KubeObject>(object));
      }
      applied.set(path, text);
    } catch (error) {
      process.log(
        `level=warning msg="failed to apply manifests" component=applier path=${path} error="${errorMessage(error)}"`,
      );
    }
  }
}
