import {
  asJson,
  asUnstructured,
  errorMessage,
  isJsonObject,
  type JsonObject,
  parseApiVersion,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { BadReviewError, requiredText, reviewOf } from './review.ts';
import { converted, makeFit, type ReviewedKinds, versionNamed } from './reviewed-kinds.ts';

const apiVersion = 'apiextensions.k8s.io/v1';
/** number of objects converted before yielding to other work */
const batch = 50;

/**
 * Answers a ConversionReview: converts all objects, or none and returns the error. A whole list in an old version is
 * one review, so the conversion yields regularly.
 */
export async function convertReview(
  body: unknown,
  kinds: ReviewedKinds,
  giveWay: () => Promise<void>,
): Promise<JsonObject> {
  const request = reviewOf(body, 'ConversionReview', apiVersion);
  const uid = requiredText(request, 'uid');
  const desired = requiredText(request, 'desiredAPIVersion');
  const { objects } = request;
  if (!Array.isArray(objects)) throw new BadReviewError('request.objects is missing');
  const answer = (response: JsonObject): JsonObject => ({
    apiVersion,
    kind: 'ConversionReview',
    response: { uid, ...response },
  });
  const convertedObjects: JsonObject[] = [];
  try {
    for (const [index, object] of objects.entries()) {
      if (index > 0 && index % batch === 0) await giveWay();
      if (!isJsonObject(object)) throw new Error(`object ${index} is none`);
      convertedObjects.push(asJson(await convertOne(asUnstructured(object), desired, kinds)));
    }
  } catch (error) {
    return answer({ convertedObjects: [], result: { status: 'Failure', message: errorMessage(error) } });
  }
  return answer({ convertedObjects, result: { status: 'Success' } });
}

async function convertOne(
  object: UnstructuredObject,
  desired: string,
  kinds: ReviewedKinds,
): Promise<UnstructuredObject> {
  if (typeof object.apiVersion !== 'string' || typeof object.kind !== 'string' || !isJsonObject(object.metadata)) {
    throw new Error('an object lacks its apiVersion, kind or metadata');
  }
  if (object.apiVersion === desired) return object;
  const definition = kinds.ofObject(object);
  const { group, version } = parseApiVersion(desired);
  if (!definition || definition.group !== group)
    throw new Error(`${object.kind} of ${object.apiVersion} is not converted here`);
  if (!versionNamed(definition, version)) throw new Error(`${definition.kind} has no version ${version}`);
  // of this review alone
  const fitting = makeFit(definition, object);
  if ('misfit' in fitting) throw new Error(`${object.kind} ${nameOf(object)}: ${fitting.misfit}`);
  return await converted(definition, fitting.draft, version);
}

function nameOf({ metadata: { namespace, name = '' } }: UnstructuredObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
