import {
  asJson,
  clone,
  compileSimplePath,
  fieldError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  labelSelectorFromObject,
  type ScalePaths,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { printerOf } from '../crd/printer.ts';
import { modifiedConflict } from '../service/metadata.ts';
import { applyPatch } from '../service/patch.ts';
import { getRecord } from '../service/reads.ts';
import type { NamedTarget } from '../service/types.ts';
import { updateObject } from '../service/update.ts';
import type { SubresourceAnswer, SubresourceRequest } from './types.ts';

const scalePrinter = printerOf([
  { name: 'Desired', type: 'integer', description: 'Number of pods that are wanted.', jsonPath: '.spec.replicas' },
  { name: 'Available', type: 'integer', description: 'Number of pods that were seen.', jsonPath: '.status.replicas' },
  {
    name: 'Age',
    type: 'date',
    description: 'Time since the server created the object.',
    jsonPath: '.metadata.creationTimestamp',
  },
]);

/** Serves the Scale of kinds that declare their replica paths. */
export async function handleScale(request: SubresourceRequest): Promise<SubresourceAnswer> {
  const { context, target, caller, verb } = request;
  const paths = target.version.scale;
  if (!paths) throw statusError.pathNotFound();
  if (verb === 'get') {
    const record = await getRecord(context, target, caller, {});
    const object = await target.resource.convert(await target.resource.fromRecord(record), target.version.name);
    return scaleAnswer(object, paths);
  }
  const written = await updateObject({
    context,
    target,
    subresource: 'scale',
    caller,
    settings: request.settings,
    next: async (live) => {
      const inVersion = await target.resource.convert(live, target.version.name);
      const desired = desiredScale(request, toScale(inVersion, paths), target);
      const replicas = readReplicas(desired, target);
      const sentVersion = isJsonObject(desired['metadata']) ? desired['metadata']['resourceVersion'] : undefined;
      if (typeof sentVersion === 'string' && sentVersion !== '' && sentVersion !== live.metadata.resourceVersion) {
        throw modifiedConflict(target);
      }
      const draft = clone(inVersion);
      compileSimplePath(paths.specReplicasPath).set(asJson(draft), replicas);
      return { draft, conditional: false };
    },
  });
  const object = await target.resource.convert(written.object, target.version.name);
  return scaleAnswer(object, paths);
}

function scaleAnswer(object: UnstructuredObject, paths: ScalePaths): SubresourceAnswer {
  return { type: 'value', code: 200, value: toScale(object, paths), printer: scalePrinter };
}

function desiredScale(request: SubresourceRequest, present: JsonObject, target: NamedTarget): JsonObject {
  if (request.patch) {
    const patched = applyPatch(
      request.patch.kind === 'strategic' ? 'merge' : request.patch.kind,
      present as JsonValue,
      request.patch.value,
      target,
    );
    if (isJsonObject(patched)) return patched;
  } else if (isJsonObject(request.body?.value)) return request.body.value;
  throw statusError.badRequest('the body must be a Scale object');
}

function readReplicas(scale: JsonObject, target: NamedTarget): number {
  const spec = isJsonObject(scale['spec']) ? scale['spec'] : {};
  const replicas = spec['replicas'] ?? 0;
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0) return replicas;
  throw statusError.invalid('autoscaling', 'Scale', target.name, [
    fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
  ]);
}

function toScale(object: UnstructuredObject, paths: ScalePaths): JsonObject {
  const source = asJson(object);
  const { metadata } = object;
  const replicas = compileSimplePath(paths.specReplicasPath).get(source);
  const selector = paths.labelSelectorPath && compileSimplePath(paths.labelSelectorPath).get(source);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: metadata.name,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      creationTimestamp: metadata.creationTimestamp,
    },
    spec: { ...(typeof replicas === 'number' && { replicas }) },
    status: {
      replicas: Number(compileSimplePath(paths.statusReplicasPath).get(source) ?? 0),
      ...(selector !== undefined && selector !== null && { selector: selectorText(selector) }),
    },
  };
}

/** Custom kinds store the selector as text; built-in kinds store an object, which Scale shows as text. */
function selectorText(selector: JsonValue): string {
  if (typeof selector === 'string') return selector;
  return isJsonObject(selector) ? labelSelectorFromObject(selector).toString() : '';
}
