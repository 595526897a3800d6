import { type ClassPatch, type Cluster, conversionDataAnnotation, type HookVariable } from '../../../api/index.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  errorMessage,
  type JsonObject,
  PatchError,
  parseJson,
} from '../../../machinery/index.ts';
import type { HookCaller } from '../../shared/index.ts';
import { ClassPatchError, type ExternalPatches, onlyPatchable, type PatchedTemplate } from './engine.ts';

/** Builds the caller of external patches; handlers are named in the ClusterClass. */
export function externalPatches(hooks: HookCaller, cluster: Cluster, signal: AbortSignal): ExternalPatches {
  const request = (templates: readonly PatchedTemplate[], globals: readonly HookVariable[]) => ({
    variables: globals,
    items: templates.map(({ item, object, variables }) => ({ ...item, object: forRequest(object), variables })),
  });
  const settingsOf = ({ external }: ClassPatch) => (external?.settings ? { settings: external.settings } : {});
  return {
    async generate(patch, templates, globals) {
      const handler = patch.external?.generatePatchesExtension ?? '';
      const answer = await hooks.ask('GeneratePatches', handler, cluster, request(templates, globals), {
        signal,
        ...settingsOf(patch),
      });
      const result = new Map(templates.map((template) => [template.item.uid, template]));
      for (const { uid, patchType, patch: encoded } of answer.items ?? []) {
        const template = result.get(uid);
        const failed = (cause: string): never => {
          const what = template ? `${template.object.kind} ${template.object.metadata.name}` : `item ${uid}`;
          throw new ClassPatchError(`patch "${patch.name}" of ${handler} cannot be applied to ${what}: ${cause}`);
        };
        if (!template) return failed('there is no such item in the request');
        try {
          const operations = parseJson(Buffer.from(encoded, 'base64').toString('utf8'));
          // an absent spec was sent as an empty one
          const before: JsonObject = { ...(template.object as JsonObject), spec: template.object['spec'] ?? {} };
          const patched =
            patchType === 'JSONMergePatch'
              ? applyMergePatch(before, operations)
              : applyJsonPatch(before, operations, { strict: true });
          result.set(uid, { ...template, object: onlyPatchable(template.object, patched) });
        } catch (error) {
          failed(error instanceof PatchError ? error.detail : errorMessage(error));
        }
      }
      return [...result.values()];
    },
    async validate(patch, templates, globals) {
      const handler = patch.external?.validateTopologyExtension ?? '';
      const { items, variables } = request(templates, globals);
      const withoutUids = items.map(({ uid: _, ...item }) => item);
      await hooks.ask(
        'ValidateTopology',
        handler,
        cluster,
        { variables, items: withoutUids },
        {
          signal,
          ...settingsOf(patch),
        },
      );
    },
  };
}

/** Reduces an object for a request; server-set metadata is left out. */
function forRequest(object: PatchedTemplate['object']): PatchedTemplate['object'] {
  const { name = '', namespace = '', labels, annotations } = object.metadata;
  const { [conversionDataAnnotation]: _, ...rest } = annotations ?? {};
  const metadata = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations: rest }) };
  return { apiVersion: object.apiVersion, kind: object.kind, metadata, spec: object['spec'] ?? {} };
}
